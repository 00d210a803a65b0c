#pragma once

#include <map>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Parts of a URL "scheme://address?key=value&key=value", or "scheme:address".
struct Url {
  std::string text;  ///< as given, for messages
  std::string scheme;
  std::string address;
  std::map<std::string, std::string> options;
};

Result<Url> parse_url(const std::string& text);

/// Returns the error kBadUrl, with the name of the option, if a URL option is not in the
/// comma-separated list `known`.
Status check_url_options(const Url& url, const std::string& known);

/// Returns the integer value of a URL option within [min, max], or `fallback` if the URL does not
/// contain the option.
Result<int> read_int_option(const Url& url, const std::string& key, int fallback, int min, int max);

/// Clock of a simulated line or unit.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const TimeSource&) = delete;
  TimeSource& operator=(const TimeSource&) = delete;
  virtual ~TimeSource() = default;
  virtual Nanoseconds now() const noexcept = 0;
  virtual void sleep_until(Nanoseconds time) noexcept = 0;
};

/// The computer's clock CLOCK_MONOTONIC.
class MonotonicTime final : public TimeSource {
 public:
  Nanoseconds now() const noexcept override;
  void sleep_until(Nanoseconds time) noexcept override;
};

}  // namespace firmware_iface
