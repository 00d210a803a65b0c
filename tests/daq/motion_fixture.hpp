#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "daq/safety/encoder_motion_monitor.hpp"

namespace daq {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kTick_s = 1e-3;
inline constexpr double kCount_rad = 2.0 * std::numbers::pi / 4096.0;

// A driven arm and a passive pendulum. The motor moves the arm from 0.5 V on, at which the arm may
// stand still for 0.6 s.
inline SafetyLimits arm_and_pendulum() {
  SafetyLimits limits;
  limits.joint = {{.joint = "arm"}, {.joint = "pendulum"}};
  limits.motion = {
      {.rad_per_count = kCount_rad, .motor = 0, .stall_command = 0.5, .stall_time_s = 0.6},
      {.rad_per_count = kCount_rad}};
  return limits;
}

class Motion : public ::testing::Test {
 protected:
  // One sample, with the command that is in force from it on.
  Trip step(std::int64_t arm, std::int64_t pendulum, double u,
            MotionPhase phase = MotionPhase::kDriven) {
    now_.time_s += kTick_s;
    counts_ = {arm, pendulum, 0};
    for (std::size_t j = 0; j < 2; ++j) {
      const double angle = kCount_rad * static_cast<double>(counts_[j]);
      now_.joint[j] = {angle, j == 0 ? arm_speed_ : 0.0, valid_[j]};
    }
    return checks_.add({now_, counts_, std::array{u, second_u_}, phase});
  }

  // A new monitor, and one second at rest; then the first command is in force.
  void begin(double u) {
    checks_ = EncoderMotionMonitor(limits_);
    rest(u);
  }
  // One second at rest; then the first command is in force.
  void rest(double u) {
    for (int k = 0; k < 1000; ++k) step(0, 0, 0.0, MotionPhase::kWatched);
    ASSERT_EQ(step(0, 0, u).cause, TripCause::kNone);
  }

  // Number of samples until the first trip, at most `most`; −1 without a trip.
  int until_trip(int most, const std::function<Trip(int)>& sample) {
    for (int k = 1; k <= most; ++k) {
      trip_ = sample(k);
      if (trip_.cause != TripCause::kNone) return k;
    }
    return -1;
  }

  SafetyLimits limits_ = arm_and_pendulum();
  EncoderMotionMonitor checks_{limits_};
  Observation now_;
  std::array<std::int64_t, 3> counts_{};  // of the arm, the pendulum and another joint
  std::array<bool, 2> valid_{true, true};
  double arm_speed_ = 0.0;
  double second_u_ = 0.0;  // of the second motor, if there is one
  Trip trip_;
};

inline std::int64_t counts_at(double angle_rad) { return std::llround(angle_rad / kCount_rad); }

}  // namespace daq
