#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace campaign {

/// Events and failures of a campaign, reported by many threads.
class Ledger {
 public:
  void count(const std::string& what, std::uint64_t by = 1);
  /// Adds a duration; the report shows their distribution.
  void note_duration(const std::string& what, double seconds);

  /// Records a value, of which the largest is reported.
  void note_most(const std::string& what, double figure);

  /// Records a failure, which is also printed to standard error at once.
  void fail(const std::string& what);

  bool clean() const;
  std::uint64_t counted(const std::string& what) const;
  void print(std::ostream& out) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::string, std::vector<float>> durations_s_;
  std::map<std::string, double> most_;
  std::vector<std::string> failures_;
};

}  // namespace campaign
