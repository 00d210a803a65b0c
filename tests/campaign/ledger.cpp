#include "tests/campaign/ledger.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace campaign {

void Ledger::count(const std::string& what, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[what] += by;
}

void Ledger::note_longest(const std::string& what, double seconds) {
  const std::lock_guard lock(mutex_);
  double& longest = longest_s_[what];
  longest = std::max(longest, seconds);
}

void Ledger::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  failures_.push_back(what);
  std::cerr << "FAILURE: " << what << std::endl;
}

bool Ledger::clean() const {
  const std::lock_guard lock(mutex_);
  return failures_.empty();
}

std::uint64_t Ledger::counted(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(what);
  return found == counts_.end() ? 0 : found->second;
}

void Ledger::print(std::ostream& out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [what, count] : counts_) out << std::setw(12) << count << "  " << what << '\n';
  for (const auto& [what, seconds] : longest_s_) {
    out << std::setw(12) << std::fixed << std::setprecision(3) << seconds << "  s at most: " << what
        << '\n';
  }
  out << std::setw(12) << failures_.size() << "  failures\n";
}

}  // namespace campaign
