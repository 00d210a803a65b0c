#pragma once

#include <string>
#include <vector>

#include "daq/scenario/observation.hpp"

namespace daq {

/// Settings of a run without commands. The run waits until the operator holds a joint near an angle
/// or a position, then until the joint is released, and ends when every joint is at rest. A
/// simulation has no operator and starts from the joints' initial state.
struct ReleaseSettings {
  bool has_operator = true;
  std::size_t joint = 0;
  std::size_t joint_count = 1;
  std::vector<bool> slides = {};  // sliding joints: read m for rad; empty: all turn
  double held_angle_rad = 0.0;    // of the held joint, or its position
  double held_tolerance_rad = 0.1;
  double rest_speed_rad_per_s = 0.0;  // 0: do not wait for rest, run for the duration
  double rest_speed_m_per_s = 0.0;
  double rest_time_s = 1.0;
};

/// The joint that an operator must hold, and the angle to hold it at. For a sliding joint the unit
/// is m instead of rad.
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

  double command(const ScenarioInput& now) noexcept;
  double command_peak() const noexcept { return 0.0; }
  Phase phase() const noexcept { return phase_; }
  std::vector<std::string> faults() const;
  HeldJoint held_joint() const {
    return {settings_.joint, slides(settings_.joint), settings_.held_angle_rad,
            settings_.held_tolerance_rad};
  }

 private:
  bool is_held(const JointState& joint) const noexcept;
  bool is_at_rest(const ScenarioInput& now) const noexcept;
  bool slides(std::size_t joint) const noexcept {
    return joint < settings_.slides.size() && settings_.slides[joint];
  }
  bool waits_for_rest() const noexcept {
    return settings_.rest_speed_rad_per_s > 0.0 || settings_.rest_speed_m_per_s > 0.0;
  }

  ReleaseSettings settings_;
  Phase phase_;
  double since_s_ = -1.0;  // since when the joint is held, or all are at rest; negative: not
};

}  // namespace daq
