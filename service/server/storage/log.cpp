#include "service/server/storage/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "proto/text/printable.hpp"

namespace service {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(level);
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> kLogger = [] {
    auto made = spdlog::stderr_logger_mt("rigcald");
    made->set_pattern("time=%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *kLogger;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kSizeMax = 1024;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:/+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && text.size() <= kSizeMax && std::all_of(text.begin(), text.end(), plain)) {
    return std::string(text);
  }
  std::string escaped;
  for (const char c : text.substr(0, kSizeMax)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + proto::escape_for_terminal(escaped) + (text.size() > kSizeMax ? "...\"" : "\"");
}

std::string field_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace

LogField::LogField(std::string_view name, std::string_view text) : key(name), value(quoted(text)) {}
LogField::LogField(std::string_view name, std::uint64_t number)
    : key(name), value(std::to_string(number)) {}
LogField::LogField(std::string_view name, double number) : key(name), value(field_text(number)) {}

bool logs(LogLevel level) { return logger().should_log(to_spdlog(level)); }

void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logs(level)) return;
  std::string line = "event=" + std::string(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += field.value;
  }
  logger().log(to_spdlog(level), line);
}

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

}  // namespace service
