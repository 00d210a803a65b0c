#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace service {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// One key and value of a log line. Text is quoted if needed.
struct LogField {
  LogField(std::string_view name, std::string_view text);
  LogField(std::string_view name, const std::string& text)
      : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, std::uint64_t number);
  LogField(std::string_view name, double number);

  std::string_view key;
  std::string value;
};

/// Writes a line "time=… level=… event=… key=value …" to standard error. Text from clients is
/// escaped and cannot leave its quotes or its line. Any thread.
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

/// Whether that level is written; use it before costly log arguments.
bool logs(LogLevel level);

/// Sets the lowest level that is written; default kInfo. kOff writes nothing.
void set_log_level(LogLevel level);

}  // namespace service
