#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace campaign {

/// What happened in a campaign and what went wrong, told by many threads.
class Ledger {
 public:
  void count(const std::string& what, std::uint64_t by = 1);
  /// How long something took; the report tells how these spread.
  void note_duration(const std::string& what, double seconds);

  /// A figure of which the largest counts.
  void note_most(const std::string& what, double figure);

  /// Something that must not happen. Said at once on the error stream.
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
