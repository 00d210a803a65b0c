#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace service {

/// Processor time used by each identity within the last hour, by minute. Times are in seconds on
/// any one clock.
class ProcessorUsage {
 public:
  static constexpr double kWindow_s = 3600.0;

  /// Adds processor time, spread evenly between two times.
  void add(const std::string& identity, double from_s, double to_s, double processor_s);

  /// Returns the use in the hour before `now_s`, to the minute [s].
  double of(const std::string& identity, double now_s) const;

  /// Discards entries that are older than the window.
  void forget_before(double now_s);

 private:
  using Minutes = std::map<std::int64_t, double>;  // [s] per minute with any use
  std::map<std::string, Minutes> used_;
};

}  // namespace service
