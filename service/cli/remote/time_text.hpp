#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace service {

/// Formats a time since 1970 as local time to the second; "-" for 0.
inline std::string time_text(std::int64_t unix_ns) {
  if (unix_ns == 0) return "-";
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return {text, size};
}

}  // namespace service
