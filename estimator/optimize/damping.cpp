#include "estimator/optimize/damping.hpp"

#include <algorithm>

namespace estimator {
namespace {

constexpr double kMaxReduction = 0.01;
constexpr double kMinReduction = 1.0 / 3.0;
constexpr double kFirstGrowth = 2.0;
constexpr double kIncreaseOnFailure = 100.0;

}  // namespace

Damping::Damping(const LmOptions& options)
    : min_(options.min_damping),
      max_(options.max_damping),
      value_(options.initial_damping),
      growth_(kFirstGrowth) {}

void Damping::lower(double gain_ratio) {
  const double excess = 2.0 * gain_ratio - 1.0;
  value_ *= std::clamp(1.0 - excess * excess * excess, kMaxReduction, kMinReduction);
  value_ = std::clamp(value_, min_, max_);
  growth_ = kFirstGrowth;
}

bool Damping::raise() {
  if (!raise_by(growth_)) return false;
  growth_ *= 2.0;
  return true;
}

bool Damping::raise_for_rounding() { return raise_by(kIncreaseOnFailure); }

bool Damping::raise_by(double factor) {
  if (value_ >= max_) return false;
  value_ = std::min(factor * std::max(value_, min_), max_);
  return true;
}

}  // namespace estimator
