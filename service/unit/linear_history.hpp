#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

namespace service {

/// Recent values of quantities over time, interpolated linearly. Allocates only in the constructor.
class LinearHistory {
 public:
  /// @param quantities  number of quantities
  /// @param capacity    number of entries; a new entry then replaces the oldest one
  LinearHistory(Eigen::Index quantities, std::size_t capacity)
      : time_(std::max<std::size_t>(capacity, 2)),
        values_(quantities, static_cast<Eigen::Index>(time_.size())) {}

  /// Adds values at a time [s] that is not before any other.
  void append(double time, const Eigen::VectorXd& values) {
    const std::size_t entry = count_++ % time_.size();
    time_[entry] = time;
    values_.col(static_cast<Eigen::Index>(entry)) = values;
  }

  /// Returns the value of a quantity at a time [s]. Before the oldest entry it is that entry's
  /// value, after the newest entry the newest value. At least one entry must exist.
  double at(double time, Eigen::Index quantity) const {
    const std::size_t oldest = count_ > time_.size() ? count_ - time_.size() : 0;
    std::size_t k = count_ - 1;
    if (time >= time_of(k)) return value_of(k, quantity);
    while (k > oldest && time < time_of(k)) --k;
    if (time <= time_of(k)) return value_of(k, quantity);
    const double share = (time - time_of(k)) / (time_of(k + 1) - time_of(k));
    return (1.0 - share) * value_of(k, quantity) + share * value_of(k + 1, quantity);
  }

 private:
  double time_of(std::size_t k) const { return time_[k % time_.size()]; }
  double value_of(std::size_t k, Eigen::Index quantity) const {
    return values_(quantity, static_cast<Eigen::Index>(k % time_.size()));
  }

  std::vector<double> time_;  // ring buffer [s]
  Eigen::MatrixXd values_;    // quantities × entries
  std::size_t count_ = 0;     // of all entries added so far
};

}  // namespace service
