#include "estimator/signal/resample.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/signal/step_grid.hpp"

namespace estimator {

Eigen::MatrixXd decimate(const Eigen::Ref<const Eigen::MatrixXd>& samples, int factor) {
  assert(factor >= 1);
  const Eigen::Index rows = (samples.rows() + factor - 1) / factor;
  Eigen::MatrixXd decimated(rows, samples.cols());
  for (Eigen::Index k = 0; k < rows; ++k) decimated.row(k) = samples.row(k * factor);
  return decimated;
}

ControlMoments average_held_control(const Eigen::Ref<const Eigen::VectorXd>& control, double begin,
                                    double end, const std::vector<double>& positions) {
  assert(control.size() >= 1 && begin < end && std::isfinite(begin) && std::isfinite(end));
  const auto last = static_cast<double>(control.size() - 1);
  const double length = end - begin;
  const double centre = 0.5 * (begin + end);
  auto next = std::ranges::upper_bound(positions, begin);
  // The first element also applies before its start.
  if (!positions.empty() && next == positions.begin()) ++next;
  ControlMoments result{0.0, 0.0};
  for (double piece = begin; piece < end;) {
    double held_until = end;
    auto element = static_cast<Eigen::Index>(next - positions.begin()) - 1;
    if (positions.empty()) {
      // Beyond its ends the signal is constant, in one part.
      if (piece < last) held_until = piece < 0.0 ? 0.0 : std::floor(piece) + 1.0;
      element = static_cast<Eigen::Index>(std::clamp(std::floor(piece), 0.0, last));
    } else if (next != positions.end()) {
      held_until = *next++;
    }
    const double piece_end = std::min(held_until, end);
    const double held = control[element];
    const double weight = (piece_end - piece) / length;
    result.mean += weight * held;
    result.first_moment += weight * (0.5 * (piece + piece_end) - centre) / length * held;
    piece = piece_end;
  }
  return result;
}

StepControlMoments average_controls(const Eigen::Ref<const Eigen::MatrixXd>& controls,
                                    double period, double step, int step_count, double delay) {
  assert(controls.rows() >= 1 && period > 0.0 && step > 0.0 && step_count >= 0);
  StepControlMoments result;
  result.mean.resize(step_count, controls.cols());
  result.first_moment.resize(step_count, controls.cols());
  for (int k = 0; k < step_count; ++k) {
    const double begin = (k * step - delay) / period;
    const double end = ((k + 1) * step - delay) / period;
    for (Eigen::Index motor = 0; motor < controls.cols(); ++motor) {
      const ControlMoments average = average_held_control(controls.col(motor), begin, end);
      result.mean(k, motor) = average.mean;
      result.first_moment(k, motor) = average.first_moment;
    }
  }
  return result;
}

Segment resample_segment(const Segment& segment, double step) {
  const StepToPeriodRatio ratio = step_to_period_ratio(step, segment.period);
  Segment resampled;
  resampled.start = segment.start;
  resampled.recording_start = segment.recording_start;
  resampled.period = step;
  if (ratio.steps_per_period == 1) {
    resampled.angles = decimate(segment.angles, ratio.periods_per_step);
  } else {
    const Eigen::Index samples = segment.angles.rows();
    const Eigen::Index nodes = samples == 0 ? 0 : (samples - 1) * ratio.steps_per_period + 1;
    resampled.angles = Eigen::MatrixXd::Constant(nodes, segment.angles.cols(),
                                                 std::numeric_limits<double>::quiet_NaN());
    for (Eigen::Index k = 0; k < samples; ++k) {
      resampled.angles.row(k * ratio.steps_per_period) = segment.angles.row(k);
    }
  }
  // Integer counts instead of times, so that rounded time stamps do not accumulate errors.
  const auto nodes = static_cast<int>(resampled.angles.rows());
  if (segment.controls.rows() > 0) {
    resampled.controls =
        average_controls(segment.controls, static_cast<double>(ratio.steps_per_period),
                         static_cast<double>(ratio.periods_per_step), nodes)
            .mean;
  } else {
    resampled.controls = Eigen::MatrixXd(0, segment.controls.cols());
  }
  return resampled;
}

}  // namespace estimator
