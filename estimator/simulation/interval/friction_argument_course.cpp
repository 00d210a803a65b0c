#include "estimator/simulation/interval/friction_argument_course.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace estimator {
namespace {

constexpr double kSlopeDecay = 0.4;  // of du/dx

double level_of(double x) {
  return std::copysign(-std::expm1(-kSlopeDecay * std::abs(x)) / kSlopeDecay, x);
}

/// Returns the time after which u has changed by `way`, if x starts at its value and grows at
/// `rate`.
double time_for(double way, double x, double rate) {
  if (rate == 0.0) return std::numeric_limits<double>::infinity();
  const double along = std::copysign(1.0, rate) * x;
  const double share = kSlopeDecay * (level_of(along) + way);  // of the range of u on one side
  if (share >= 1.0) return std::numeric_limits<double>::infinity();
  return (std::copysign(-std::log1p(-std::abs(share)) / kSlopeDecay, share) - along) /
         std::abs(rate);
}

}  // namespace

FrictionArgumentCourse::FrictionArgumentCourse(double begin, double mean, double end)
    : begin_(begin),
      end_(end),
      rise_(6.0 * mean - 4.0 * begin - 2.0 * end),
      bend_(3.0 * (begin + end - 2.0 * mean)) {}

double FrictionArgumentCourse::passed() const {
  const double first = level_of(begin_), last = level_of(end_);
  const double turn = -0.5 * rise_ / bend_;
  if (!(turn > 0.0 && turn < 1.0)) return std::abs(last - first);
  const double between = level_of(begin_ + 0.5 * rise_ * turn);
  return std::abs(between - first) + std::abs(last - between);
}

double FrictionArgumentCourse::fraction_from_begin(double way) const {
  return std::min(time_for(way, begin_, rise_), time_for(way, begin_, end_ - begin_));
}

double FrictionArgumentCourse::fraction_from_end(double way) const {
  return time_for(way, end_, rise_ + 2.0 * bend_);
}

}  // namespace estimator
