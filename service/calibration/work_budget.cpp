#include "service/calibration/work_budget.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// The fastest measured case, with two angles, takes 4 µs per step and iteration
// (docs/performance.md); a calibration needs at least one iteration.
constexpr double kStepTime = 1e-6;  // [s]

// Steps are counted in 32 bits, several counts per step.
constexpr double kStepCountMax = 1e8;

}  // namespace

void check_work_budget(const std::vector<estimator::Recording>& recordings, double step,
                       double duration_s) {
  double longest = 0.0, together = 0.0, period = 0.0;  // [s]
  for (const estimator::Recording& recording : recordings) {
    for (const estimator::Segment& segment : recording.segments) {
      const double duration = segment.duration();
      longest = std::max(longest, duration);
      together += duration;
      if (period == 0.0) period = segment.period;
    }
  }
  if (!(step >= 0.0))
    throw proto::InputError("the step must be positive. Correct it or leave it out");
  if (step > 0.0 && step > longest) {
    throw proto::InputError("a step of " + format_number(step, 4) +
                            " s is longer than the longest segment, " + format_number(longest, 4) +
                            " s. Choose a few sampling periods");
  }
  const double steps = together / (step > 0.0 ? std::min(step, longest) : std::max(period, 1e-9));
  const double most = std::min(kStepCountMax, duration_s / kStepTime);
  if (steps <= most) return;
  throw proto::InputError(
      "a step of " + format_number(step > 0.0 ? step : period, 4) + " s gives " +
      format_number(steps, 4) + " steps for " + format_number(together, 4) +
      " s of recordings, more than can be computed" +
      (most < kStepCountMax ? " within " + format_number(duration_s, 4) + " s" : "") +
      ". Choose a longer step or use a part of the recordings");
}

}  // namespace service
