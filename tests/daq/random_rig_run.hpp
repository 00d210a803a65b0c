#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "daq/safety/encoder_motion_monitor.hpp"

namespace daq {

inline constexpr std::size_t kRunJoints = 3;
inline constexpr double kSampleTick_s = 1.0 / 1024.0;  // sums of times are exact

struct RunSample {
  Observation now;
  std::vector<std::int64_t> counts;
  std::vector<double> command;
  MotionPhase phase = MotionPhase::kWatched;
};

struct RigRun {
  SafetyLimits limits;
  std::vector<RunSample> samples;
};

struct FirstTrip {
  int sample = -1;
  Trip trip;
  int creeping = 0;         // number of samples at which a joint may creep
  int creeping_at_end = 0;  // of the last 3000
};

inline FirstTrip find_first_trip(const RigRun& run) {
  EncoderMotionMonitor monitor(run.limits);
  FirstTrip result;
  for (std::size_t k = 0; k < run.samples.size(); ++k) {
    const RunSample& sample = run.samples[k];
    result.trip = monitor.add({sample.now, sample.counts, sample.command, sample.phase});
    result.creeping += monitor.may_creep();
    if (k + 3000 >= run.samples.size()) result.creeping_at_end += monitor.may_creep();
    result.sample = static_cast<int>(k);
    if (result.trip.cause != TripCause::kNone) break;
  }
  return result;
}

/// A joint that a motor may accelerate, with friction, a spring and the motion of joint 0.
struct SimulatedJoint {
  double gain, friction, spring, coupling;
  double angle = 0.0, speed = 0.0;

  double move(double u, double base_acceleration) {
    const double acceleration =
        gain * u + coupling * base_acceleration - spring * angle - friction * speed;
    speed += acceleration * kSampleTick_s;
    angle += speed * kSampleTick_s;
    return acceleration;
  }
};

/// A random rig and run. Joints 0 and perhaps 1 have motors; an encoder may freeze, drift or count
/// backwards, or a joint may be blocked or gain energy.
inline RigRun make_run(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::uint64_t count) { return random() % count; };
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(one_of(1001)) / 1000.0;
  };
  RigRun run;
  const bool has_two_motors = one_of(2) == 0;
  std::vector<SimulatedJoint> joints;
  for (std::size_t j = 0; j < kRunJoints; ++j) {
    const bool driven = j == 0 || (j == 1 && has_two_motors);
    run.limits.joint.push_back({.joint = std::string("joint"), .slides = one_of(4) == 0});
    const double scale = run.limits.joint[j].slides ? 0.1 : 1.0;
    JointDrive drive{.rad_per_count = scale * std::numbers::pi / between(1000.0, 4000.0)};
    if (driven) drive.motor = static_cast<int>(j);
    if (driven) drive.stall_command = 0.5;
    if (driven) drive.stall_time_s = between(0.3, 0.6);
    if (!driven) drive.is_unaffected = one_of(3) == 0;
    if (one_of(4) == 0) drive.stop_rad_min = -between(0.5, 2.0) * scale;
    if (one_of(4) == 0) drive.stop_rad_max = between(0.5, 2.0) * scale;
    run.limits.motion.push_back(drive);
    joints.push_back({driven ? between(2.0, 20.0) * scale : 0.0, between(0.2, 4.0),
                      driven ? 0.0 : between(0.0, 60.0),
                      driven ? 0.0 : scale * between(-1.0, 1.0)});
  }
  const std::uint64_t fault = one_of(6);
  const std::size_t faulty = one_of(kRunJoints);
  const int fault_at = static_cast<int>(200 + one_of(1200));
  std::array<double, kRunJoints> shown{}, drift{};
  std::vector<std::array<double, kRunJoints>> angles;
  std::vector<double> command(2);
  const int driven_at = fault == 2 ? 2600 : 350;  // a drift is found before the run
  int next_change = driven_at + 50;
  for (int k = 0; k < 3000; ++k) {
    const MotionPhase phase = k < driven_at ? MotionPhase::kWatched
                              : k < 2000    ? MotionPhase::kDriven
                                            : MotionPhase::kReleased;
    if (phase != MotionPhase::kDriven) command = {0.0, 0.0};
    if (phase == MotionPhase::kDriven && k >= next_change) {
      for (std::size_t m = 0; m < (has_two_motors ? 2U : 1U); ++m) {
        command[m] = std::array{0.0, 0.3, 0.5, 0.6, 1.0}[one_of(5)] * (one_of(2) == 0 ? -1 : 1);
      }
      next_change = k + static_cast<int>(20 + one_of(600));
    }
    double base = 0.0;
    for (std::size_t j = 0; j < kRunJoints; ++j) {
      const bool blocked = fault == 1 && j == faulty && k > fault_at;
      const double before = joints[j].angle;
      if (fault == 5 && j == faulty) joints[j].friction = -1.5;
      const double a = joints[j].move(j < 2 ? command[j] : 0.0, base);
      if (j == 0) base = a;
      if (blocked) joints[j].angle = before;
      if (blocked) joints[j].speed = 0.0;
      if (fault == 2 && j == faulty) drift[j] += 0.08 * kSampleTick_s;
      if (fault == 3 && j == faulty && k > fault_at) continue;  // frozen
      shown[j] = (fault == 4 && j == faulty ? -1.0 : 1.0) * joints[j].angle + drift[j];
    }
    RunSample sample;
    sample.now.time_s = 2.0 + kSampleTick_s * k;
    sample.phase = phase;
    sample.command = command;
    std::array<double, kRunJoints> read{};
    for (std::size_t j = 0; j < kRunJoints; ++j) {
      const double q = run.limits.motion[j].rad_per_count;
      sample.counts.push_back(std::llround(shown[j] / q));
      read[j] = q * static_cast<double>(sample.counts[j]);
      const std::size_t window = std::min<std::size_t>(angles.size(), 16);
      const double speed = window == 0 ? 0.0
                                       : (read[j] - angles[angles.size() - window][j]) /
                                             (kSampleTick_s * static_cast<double>(window));
      sample.now.joint[j] = {read[j], speed, true};
    }
    angles.push_back(read);
    run.samples.push_back(sample);
  }
  return run;
}

}  // namespace daq
