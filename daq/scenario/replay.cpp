#include "daq/scenario/replay.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace daq {

Replay::Replay(std::vector<double> time_s, std::vector<double> values)
    : time_s_(std::move(time_s)), values_(std::move(values)) {
  assert(time_s_.size() == values_.size());
  if (time_s_.empty()) return;
  const double start_s = time_s_.front();
  for (double& t : time_s_) t -= start_s;
}

double Replay::command(const ScenarioInput& now) noexcept {
  if (time_s_.empty() || now.time_s < 0.0) return 0.0;
  while (row_ + 1 < time_s_.size() && time_s_[row_ + 1] <= now.time_s) ++row_;
  return row_ + 1 < time_s_.size() ? values_[row_] : 0.0;
}

double Replay::command_peak() const noexcept {
  double peak = 0.0;
  for (const double value : values_) peak = std::max(peak, std::abs(value));
  return peak;
}

std::vector<std::string> Replay::faults() const {
  std::vector<std::string> found;
  if (time_s_.size() < 2) found.push_back("replay.file: needs at least two rows");
  for (std::size_t k = 0; k < time_s_.size(); ++k) {
    const std::string row = "replay.file: row " + std::to_string(k + 1);
    if (!std::isfinite(time_s_[k]) || !std::isfinite(values_[k])) {
      found.push_back(row + " is not a number");
      break;
    }
    if (k > 0 && time_s_[k] <= time_s_[k - 1]) {
      found.push_back(row + ": time does not increase");
      break;
    }
  }
  return found;
}

}  // namespace daq
