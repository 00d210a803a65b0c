#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace service {

/// Levels of log lines. The values are those of the logging library spdlog.
enum class LogLevel { kDebug = 1, kInfo = 2, kWarning = 3, kError = 4, kOff = 6 };

/// A key of a log line with its value. A text value is quoted if needed.
struct LogField {
  LogField(std::string_view name, std::string_view text);
  LogField(std::string_view name, std::uint64_t number);
  LogField(std::string_view name, double number);

  std::string_view key;
  std::string value;
};

/// Writes one log line "time=… level=… event=… key=value …" to standard error. Escapes text from
/// clients so that it cannot end its quotes or its line. Callable from any thread.
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

/// Returns whether log lines of this level are written. Check it before computing costly log
/// arguments.
bool logs(LogLevel level);

/// Sets the lowest level of log lines that are written; the default is kInfo. With kOff no lines
/// are written.
void set_log_level(LogLevel level);

}  // namespace service
