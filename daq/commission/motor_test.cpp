#include "daq/commission/motor_test.hpp"

#include <algorithm>
#include <cmath>

namespace daq {
namespace {

// Returns the push: from the first nonzero command to its end or reversal. Within a push, the
// command of single samples is zero if it arrived late.
std::span<const TestPushSample> push_of(std::span<const TestPushSample> samples) {
  const auto begin = std::ranges::find_if(
      samples, [](const TestPushSample& sample) { return sample.command != 0.0; });
  if (begin == samples.end()) return {};
  const double sign = begin->command > 0.0 ? 1.0 : -1.0;
  auto last = begin;  // last sample with a command of the push
  for (auto at = begin; at != samples.end() && at->command * sign >= 0.0; ++at) {
    if (at->command != 0.0) last = at;
  }
  // The next sample shows the effect of the last command.
  const auto end = last + 1 == samples.end() ? last + 1 : last + 2;
  return {begin, end};
}

TestPushResult finding_of(std::span<const TestPushSample> push, double detectable_motion_rad) {
  TestPushResult finding;
  if (push.empty()) return finding;
  finding.motion_rad = push.back().angle_rad - push.front().angle_rad;
  finding.moved = std::abs(finding.motion_rad) >= detectable_motion_rad;
  return finding;
}

}  // namespace

TestPushLimits compute_test_push_limits(const JointLimits& limits, double rad_per_count) {
  constexpr double kCountsSeen = 4.0, kCountsPush = 16.0, kRangeShare = 0.05;
  const double scale = limits.slides ? 0.1 : 1.0;
  const double detectable_motion_rad = std::max(kCountsSeen * rad_per_count, 2e-3 * scale);
  const double range_rad = kRangeShare * (limits.angle_rad_max - limits.angle_rad_min);
  const double most_rad = std::min(0.2 * scale, range_rad);
  const double end_motion_rad =
      std::min(std::max(kCountsPush * rad_per_count, 0.05 * scale), most_rad);
  return {.detectable_motion_rad = detectable_motion_rad,
          .end_motion_rad = std::max(end_motion_rad, detectable_motion_rad),
          .other_rad = 0.2};
}

TestPushResult evaluate_pulse(std::span<const TestPushSample> samples,
                              double detectable_motion_rad) {
  const std::span<const TestPushSample> push = push_of(samples);
  TestPushResult finding = finding_of(push, detectable_motion_rad);
  double products = 0.0, squares = 0.0;
  for (const TestPushSample& sample : push) {
    const double t = sample.time_s - push.front().time_s;
    const double half = 0.5 * t * t;
    products += half * (sample.angle_rad - push.front().angle_rad);
    squares += half * half;
  }
  if (squares > 0.0) finding.acceleration = products / squares;
  return finding;
}

TestPushResult evaluate_ramp(std::span<const TestPushSample> samples,
                             double detectable_motion_rad) {
  const std::span<const TestPushSample> push = push_of(samples);
  TestPushResult finding = finding_of(push, detectable_motion_rad);
  if (!finding.moved) return finding;
  // Fits a line to the cube roots of the upper part of the motion, where counts are fine.
  constexpr double kFromShare = 0.25;
  const double sign = finding.motion_rad > 0.0 ? 1.0 : -1.0;
  double n = 0.0, sum_t = 0.0, sum_x = 0.0, sum_tt = 0.0, sum_tx = 0.0;
  double first_s = 0.0;  // last time without motion
  for (const TestPushSample& sample : push) {
    const double motion = sign * (sample.angle_rad - push.front().angle_rad);
    const double t = sample.time_s - push.front().time_s;
    if (motion <= 0.0) first_s = t;
    if (motion < kFromShare * std::abs(finding.motion_rad)) continue;
    const double x = std::cbrt(motion);
    n += 1.0;
    sum_t += t;
    sum_x += x;
    sum_tt += t * t;
    sum_tx += t * x;
  }
  const double slope = (n * sum_tx - sum_t * sum_x) / (n * sum_tt - sum_t * sum_t);
  const double onset_s = (sum_t - sum_x / slope) / n;
  const bool is_line = std::isfinite(onset_s) && slope > 0.0;
  const double at_s = is_line ? std::clamp(onset_s, 0.0, first_s) : first_s;
  const auto found = std::ranges::find_if(push, [&](const TestPushSample& sample) {
    return sample.time_s - push.front().time_s >= at_s;
  });
  finding.onset_command = (found == push.end() ? push.back() : *found).command;
  return finding;
}

double compute_undetected_motion(const MotorProperties& figures, const StallLimits& stall) {
  return 0.5 * std::abs(figures.acceleration) * stall.command * stall.time_s * stall.time_s;
}

bool are_stall_limits_suitable(const StallLimits& stall, const MotorProperties& figures,
                               double rad_per_count, bool slides) {
  constexpr double kMargin = 1.2;       // of the command above the dead band
  constexpr double kCountsLeast = 4.0;  // the check needs two counts
  const double most_rad = slides ? 0.025 : 0.25;
  const double detectable_motion_rad = 0.5 * std::abs(figures.acceleration) *
                                       (stall.command - figures.dead_band) * stall.time_s *
                                       stall.time_s;
  return stall.command >= kMargin * figures.dead_band &&
         detectable_motion_rad >= kCountsLeast * rad_per_count &&
         compute_undetected_motion(figures, stall) <= most_rad;
}

StallLimits propose_stall_limits(const MotorProperties& figures, double command_max,
                                 double rad_per_count, bool slides) {
  constexpr double kMargin = 1.5, kShareLeast = 0.02, kCounts = 8.0;
  const double kappa = std::abs(figures.acceleration);
  const double command =
      std::min(std::max(kMargin * figures.dead_band, figures.dead_band + kShareLeast * command_max),
               command_max);
  const double motion_rad = slides ? 0.01 : 0.1;
  const double squared_s =
      std::max(2.0 * motion_rad / (kappa * command),
               2.0 * kCounts * rad_per_count / (kappa * (command - figures.dead_band)));
  return {command, std::sqrt(squared_s)};
}

MotorProperties compute_motor_properties(double level, const TestPushResult& positive,
                                         const TestPushResult& negative, const TestPushResult& rise,
                                         const TestPushResult& fall) {
  MotorProperties figures{.level = level};
  figures.dead_band = std::max(std::abs(rise.onset_command), std::abs(fall.onset_command));
  const double acting = level - 0.5 * (std::abs(rise.onset_command) + std::abs(fall.onset_command));
  if (acting > 0.0) {
    figures.acceleration = 0.5 * (positive.acceleration - negative.acceleration) / acting;
  }
  return figures;
}

}  // namespace daq
