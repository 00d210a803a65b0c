#include "tests/campaign/ledger.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace campaign {

void Ledger::count(const std::string& what, std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  counts_[what] += by;
}

void Ledger::note_duration(const std::string& what, double seconds) {
  const std::lock_guard lock(mutex_);
  durations_s_[what].push_back(static_cast<float>(seconds));
}

void Ledger::note_most(const std::string& what, double figure) {
  const std::lock_guard lock(mutex_);
  double& most = most_[what];
  most = std::max(most, figure);
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
  out << std::fixed;
  for (auto [what, seconds] : durations_s_) {
    std::sort(seconds.begin(), seconds.end());
    const auto quantile_ms = [&](double part) {
      return 1e3 *
             seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
    };
    out << std::setprecision(1) << what << " [ms]: p50 " << quantile_ms(0.5) << ", p99 "
        << quantile_ms(0.99) << ", at most " << quantile_ms(1.0) << ", of " << seconds.size()
        << '\n';
  }
  for (const auto& [what, figure] : most_) {
    out << std::setw(12) << std::setprecision(0) << figure << "  at most: " << what << '\n';
  }
  out << std::setw(12) << failures_.size() << "  failures\n";
  for (const std::string& failure : failures_) out << "FAILURE: " << failure << '\n';
}

}  // namespace campaign
