#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace service {

/// Processor time that identities have used within the last hour, by minutes. Times are seconds on
/// one clock, any.
class ProcessorUse {
 public:
  static constexpr double kWindow_s = 3600.0;

  /// Adds what was used evenly between two times.
  void add(const std::string& identity, double from_s, double to_s, double processor_s);

  /// In the hour before `now_s`, to the minute [s].
  double of(const std::string& identity, double now_s) const;

  /// Lets go of what is older.
  void forget_before(double now_s);

 private:
  using Minutes = std::map<std::int64_t, double>;  // [s] in each that had some
  std::map<std::string, Minutes> used_;
};

}  // namespace service
