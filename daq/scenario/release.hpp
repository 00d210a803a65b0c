#pragma once

#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// No command. Waits until the operator holds a joint near an angle or a position, then until it is
/// let go, and runs until every joint rests. A simulation has no operator: it starts where its
/// joints are.
struct ReleaseSettings {
  bool has_operator = true;
  std::size_t joint = 0;
  std::size_t joint_count = 1;
  std::vector<bool> slides = {};  // of these, read m for rad; none: all turn
  double held_angle_rad = 0.0;    // of the joint that is held, or its position
  double held_tolerance_rad = 0.1;
  double rest_speed_rad_per_s = 0.0;  // 0: rest is not waited for, the duration ends the run
  double rest_speed_m_per_s = 0.0;
  double rest_time_s = 1.0;
};

/// The joint that an operator holds and lets go, and where it is held. Of a joint that slides read
/// m for rad.
struct HeldJoint {
  std::size_t joint = 0;
  bool slides = false;
  double angle_rad = 0.0;
  double tolerance_rad = 0.0;
};

class Release {
 public:
  explicit Release(const ReleaseSettings& settings)
      : settings_(settings),
        phase_(settings.has_operator ? Phase::kWaitingForHold : Phase::kRunning) {}

  double command(const Moment& now) noexcept;
  double command_peak() const noexcept { return 0.0; }
  Phase phase() const noexcept { return phase_; }
  std::vector<std::string> faults() const;
  HeldJoint held_joint() const {
    return {settings_.joint, slides(settings_.joint), settings_.held_angle_rad,
            settings_.held_tolerance_rad};
  }

 private:
  bool is_held(const JointState& joint) const noexcept;
  bool is_at_rest(const Moment& now) const noexcept;
  bool slides(std::size_t joint) const noexcept {
    return joint < settings_.slides.size() && settings_.slides[joint];
  }
  bool waits_for_rest() const noexcept {
    return settings_.rest_speed_rad_per_s > 0.0 || settings_.rest_speed_m_per_s > 0.0;
  }

  ReleaseSettings settings_;
  Phase phase_;
  double since_s_ = -1.0;  // start of the current stretch of holding or resting; negative: none
};

}  // namespace daq
