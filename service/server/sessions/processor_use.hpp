#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace service {

/// Processor time that each client identity used within the last hour, by minute. All times are
/// seconds on a clock that the caller chooses.
class ProcessorUsage {
 public:
  static constexpr double kWindow_s = 3600.0;

  /// Adds `processor_s` seconds of processor time to an identity, spread evenly from time `from_s`
  /// to `to_s`.
  void add(const std::string& identity, double from_s, double to_s, double processor_s);

  /// Returns the processor time that an identity used in the hour before `now_s`, to the minute
  /// [s].
  double of(const std::string& identity, double now_s) const;

  /// Discards entries that are more than an hour older than `now_s`.
  void discard_entries_before(double now_s);

 private:
  using Minutes = std::map<std::int64_t, double>;  // [s] per minute with any use
  std::map<std::string, Minutes> used_;
};

}  // namespace service
