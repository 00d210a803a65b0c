#include "estimator/simulation/segment_controls.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/signal/resample.hpp"

namespace estimator {
namespace {

/// Smallest change of a control between samples, relative to the largest control, that ends a
/// substep. A line across a smaller change is wrong by less than half of it, for a fraction of a
/// step.
constexpr double kJumpShare = 0.1;
constexpr double kTimeTolerance = 1e-6;    // of a sampling period
constexpr double kDelayDifference = 1e-6;  // of a sampling period, for derivatives by a delay

/// An instant at which the control of a motor jumps, or a contact begins or ends (motor −1) [s].
struct Cut {
  double time;
  int motor;
};

std::vector<Cut> find_cuts(const Segment& segment, const std::vector<ControlDelay>& delays) {
  std::vector<Cut> cuts;
  for (std::size_t motor = 0; motor < delays.size(); ++motor) {
    if (delays[motor].is_time) continue;
    const auto control = segment.controls.col(motor);
    const double jump = kJumpShare * control.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 1; k < control.size(); ++k) {
      if (!(std::abs(control[k] - control[k - 1]) > jump)) continue;
      cuts.push_back({segment.time(k) + delays[motor].value, static_cast<int>(motor)});
    }
  }
  for (Eigen::Index k = 1; k < segment.contacts.rows(); ++k) {
    if (segment.contacts.row(k) == segment.contacts.row(k - 1)) continue;
    cuts.push_back({segment.time(k), -1});
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.time < b.time; });
  return cuts;
}

}  // namespace

/// Adds a substep. A limit at a jump of a motor's control moves with the motor's delay.
void SegmentControls::fit_control_line(const Segment& segment,
                                       const std::vector<ControlDelay>& delays, double begin,
                                       double end, const std::vector<int>& begin_motors,
                                       const std::vector<int>& end_motors) {
  for (std::size_t m = 0; m < motors_; ++m) {
    const auto motor = static_cast<int>(m);
    const ControlDelay& delay = delays[m];
    if (delay.is_time) {
      line_.insert(line_.end(), {segment.time_in_recording() + begin, end - begin});
      if (slope_.capacity() != 0) slope_.insert(slope_.end(), {0.0, 0.0});
      continue;
    }
    const auto control = segment.controls.col(motor);
    const double from = (begin - delay.value) / segment.period;
    const double to = (end - delay.value) / segment.period;
    const ControlMoments now = average_held_control(control, from, to, positions_);
    const double rise = 12.0 * now.first_moment;
    line_.push_back(now.mean - 0.5 * rise);
    line_.push_back(rise);
    if (slope_.capacity() == 0) continue;
    if (!delay.free) {
      slope_.insert(slope_.end(), {0.0, 0.0});
      continue;
    }
    // Mean and moment are piecewise quadratic in the delay: central differences are exact.
    const bool begin_moves = std::ranges::find(begin_motors, motor) != begin_motors.end();
    const bool end_moves = std::ranges::find(end_motors, motor) != end_motors.end();
    const auto later = [&](double by) {
      return average_held_control(control, from - (begin_moves ? 0.0 : by),
                                  to - (end_moves ? 0.0 : by), positions_);
    };
    const ControlMoments up = later(kDelayDifference), down = later(-kDelayDifference);
    const double distance = 2.0 * kDelayDifference * segment.period;
    const double mean_slope = (up.mean - down.mean) / distance;
    const double rise_delay_derivative = 12.0 * (up.first_moment - down.first_moment) / distance;
    // Line between moving edges, evaluated at a fixed instant.
    const double steepness = rise / (end - begin);
    const double at_begin =
        mean_slope - 0.5 * rise_delay_derivative - (begin_moves ? steepness : 0.0);
    const double at_end = mean_slope + 0.5 * rise_delay_derivative - (end_moves ? steepness : 0.0);
    slope_.insert(slope_.end(), {at_begin, at_end - at_begin});
  }
}

SegmentControls::SegmentControls(const Segment& segment, const std::vector<double>& edges,
                                 const std::vector<ControlDelay>& delays)
    : motors_(delays.size()) {
  for (const double time : segment.times) positions_.push_back(time / segment.period);
  const std::vector<Cut> cuts = find_cuts(segment, delays);
  const double tolerance = kTimeTolerance * segment.period;
  const std::size_t expected = (edges.size() + cuts.size()) * 2 * motors_;
  line_.reserve(expected);
  if (std::ranges::any_of(delays, &ControlDelay::free)) slope_.reserve(expected);
  auto cut = cuts.begin();
  // Motors with a free delay among the cuts from `cut` on that coincide with an instant.
  const auto movers_at = [&](double time) {
    std::vector<int> motors;
    for (auto each = cut; each != cuts.end() && each->time <= time + tolerance; ++each) {
      if (each->motor >= 0 && delays[each->motor].free) motors.push_back(each->motor);
    }
    return motors;
  };
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    first_.push_back(static_cast<int>(begin_.size()));
    const double stop = edges[k + 1];
    double begin = edges[k];
    while (cut != cuts.end() && cut->time < begin - tolerance) ++cut;
    for (;;) {
      const std::vector<int> begin_motors = movers_at(begin);
      while (cut != cuts.end() && cut->time <= begin + tolerance) ++cut;
      const bool is_last = cut == cuts.end() || cut->time >= stop - tolerance;
      const double end = is_last ? stop : cut->time;
      if (!begin_motors.empty()) jumps_.push_back({static_cast<int>(begin_.size()), begin_motors});
      begin_.push_back(begin);
      if (segment.contacts.cols() > 0) {
        const int next = segment.first_sample_at_or_after(begin + 2.0 * tolerance);
        active_.emplace_back(segment.contacts.row(std::max(next - 1, 0)));
      }
      fit_control_line(segment, delays, begin, end, begin_motors, movers_at(end));
      if (is_last) break;
      begin = end;
    }
  }
  first_.push_back(static_cast<int>(begin_.size()));
  begin_.push_back(edges.back());
}

bool SegmentControls::has_touch_down(int substep, int first) const {
  if (active_.empty()) return false;
  const auto at = static_cast<std::size_t>(substep);
  if (substep == first) return active_[at].any();
  return (active_[at].array() > active_[at - 1].array()).any();
}

const std::vector<int>& SegmentControls::jumps(int substep) const {
  static const std::vector<int> kNone;
  const auto found = std::ranges::lower_bound(jumps_, substep, {}, &ControlJump::substep);
  return found != jumps_.end() && found->substep == substep ? found->motors : kNone;
}

}  // namespace estimator
