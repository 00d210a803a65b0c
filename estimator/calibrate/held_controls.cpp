#include "estimator/calibrate/held_controls.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/signal/resample.hpp"

namespace estimator {
namespace {

/// Changes from sample to sample that end a stretch, of the largest control. A line across smaller
/// ones is off by less than half of this for a fraction of a step.
constexpr double kJumpShare = 0.1;
constexpr double kTimeTolerance = 1e-6;    // of a sampling period
constexpr double kDelayDifference = 1e-6;  // of a sampling period, for derivatives along a delay

/// An instant at which the control of a motor jumps [s].
struct Cut {
  double time;
  int motor;
};

std::vector<Cut> find_cuts(const Segment& segment, const std::vector<ControlDelay>& delays) {
  std::vector<Cut> cuts;
  for (std::size_t motor = 0; motor < delays.size(); ++motor) {
    const auto control = segment.controls.col(static_cast<Eigen::Index>(motor));
    const double jump = kJumpShare * control.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 1; k < control.size(); ++k) {
      if (!(std::abs(control[k] - control[k - 1]) > jump)) continue;
      cuts.push_back(
          {static_cast<double>(k) * segment.period + delays[motor].value, static_cast<int>(motor)});
    }
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.time < b.time; });
  return cuts;
}

/// Mean and first moment over a stretch that is known up to its lines; `start` is the time at which
/// its step begins.
void draw_lines(const Segment& segment, const std::vector<ControlDelay>& delays, double start,
                ControlStretch& stretch) {
  const auto motors = static_cast<Eigen::Index>(delays.size());
  for (JointVector<double>* values :
       {&stretch.mean, &stretch.rise, &stretch.mean_slope, &stretch.rise_slope}) {
    values->setZero(motors);
  }
  for (Eigen::Index motor = 0; motor < motors; ++motor) {
    const ControlDelay& delay = delays[static_cast<std::size_t>(motor)];
    const auto control = segment.controls.col(motor);
    const double begin = (start + stretch.begin - delay.value) / segment.period;
    const double end = (start + stretch.end - delay.value) / segment.period;
    if (end - begin < kTimeTolerance) {
      const auto before = static_cast<Eigen::Index>(
          std::clamp(std::floor(begin - 0.5), 0.0, static_cast<double>(control.size() - 1)));
      stretch.mean[motor] = control[before];
      continue;
    }
    const HeldControl now = average_held(control, begin, end);
    stretch.mean[motor] = now.mean;
    stretch.rise[motor] = 12.0 * now.first_moment;
    if (!delay.free) continue;
    // Both are piecewise polynomials of second degree in the delay, so central differences are
    // exact but on kinks. An edge at a jump of this motor moves with the signal.
    const auto later = [&](double by) {
      return average_held(control, begin - (stretch.begin_motor == motor ? 0.0 : by),
                          end - (stretch.end_motor == motor ? 0.0 : by));
    };
    const HeldControl up = later(kDelayDifference), down = later(-kDelayDifference);
    const double distance = 2.0 * kDelayDifference * segment.period;
    stretch.mean_slope[motor] = (up.mean - down.mean) / distance;
    stretch.rise_slope[motor] = 12.0 * (up.first_moment - down.first_moment) / distance;
  }
}

}  // namespace

HeldControls::HeldControls(const Segment& segment, double step, int step_count,
                           const std::vector<ControlDelay>& delays) {
  const std::vector<Cut> cuts = find_cuts(segment, delays);
  const double tolerance = kTimeTolerance * segment.period;
  auto cut = cuts.begin();
  for (int k = 0; k < step_count; ++k) {
    first_.push_back(stretches_.size());
    const double start = k * step;
    ControlStretch stretch;
    const auto close_at = [&](double end, int motor) {
      stretch.end = end;
      stretch.end_motor = motor;
      draw_lines(segment, delays, start, stretch);
      stretches_.push_back(stretch);
      stretch.begin = end;
      stretch.begin_motor = motor;
    };
    while (cut != cuts.end() && cut->time < start - tolerance) ++cut;
    for (; cut != cuts.end() && cut->time < start + step - tolerance; ++cut) {
      const double time = std::max(cut->time - start, stretch.begin);
      // A stretch of no length matters only to derivatives: a delay gives it one.
      const bool moves = delays[static_cast<std::size_t>(cut->motor)].free;
      if (time - stretch.begin > tolerance || moves) close_at(time, cut->motor);
    }
    close_at(step, -1);
  }
  first_.push_back(stretches_.size());
}

std::span<const ControlStretch> HeldControls::stretches(int step) const {
  const auto at = static_cast<std::size_t>(step);
  return std::span(stretches_).subspan(first_[at], first_[at + 1] - first_[at]);
}

}  // namespace estimator
