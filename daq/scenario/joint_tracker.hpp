#pragma once

#include <array>
#include <cstddef>

namespace daq {

/// Estimates the speed of one joint as the difference quotient of its angle over the last kWindow
/// samples. The window divides the quantization error by kWindow and delays the speed by half the
/// window. Over a single sample of 1 ms, one count of an encoder with 4096 counts per turn would
/// appear as 1.5 rad/s.
class JointTracker {
 public:
  static constexpr std::size_t kWindow = 16;

  /// Adds an angle; times must increase. Returns the speed [rad/s], zero for the first sample.
  double add(double time_s, double angle_rad) noexcept {
    if (count_ > 0) {
      const AngleSample& oldest = entries_[count_ < kWindow ? 0 : count_ % kWindow];
      speed_rad_per_s_ = (angle_rad - oldest.angle_rad) / (time_s - oldest.time_s);
    }
    entries_[count_ % kWindow] = {time_s, angle_rad};
    ++count_;
    return speed_rad_per_s_;
  }

  /// Returns the estimated speed at the time of the last added angle [rad/s].
  double speed_rad_per_s() const noexcept { return speed_rad_per_s_; }

 private:
  struct AngleSample {
    double time_s;
    double angle_rad;
  };
  std::array<AngleSample, kWindow> entries_{};
  std::size_t count_ = 0;
  double speed_rad_per_s_ = 0.0;
};

}  // namespace daq
