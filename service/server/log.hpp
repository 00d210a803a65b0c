#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace service {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// One fact of a log line. Numbers are written as they are, text is quoted where it must be.
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

/// Writes a line "time=… level=… event=… key=value …" to standard error. What clients chose cannot
/// break out of its quotes or its line. Any thread.
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

/// Whether that level is written, for what costs something to say.
bool logs(LogLevel level);

/// Least level that is written; default kInfo. Nothing is with kOff.
void set_log_level(LogLevel level);

}  // namespace service
