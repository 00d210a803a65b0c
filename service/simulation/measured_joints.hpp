#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "daq/scenario/joint_tracker.hpp"
#include "daq/scenario/observation.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/plant.hpp"

namespace service {

/// Joint states of a simulation as rigcal-daq would measure them on a rig: encoder readings in
/// whole counts, and speeds over the last samples. The state of a joint without its own encoder is
/// exact.
class MeasuredJoints {
 public:
  explicit MeasuredJoints(const Rig& rig);

  /// Adds the readings of a sample. The returned states are valid until the next call.
  /// @param time      time of the sample; must increase [s]
  /// @param readings  readings of the rig's encoders [rad or m]
  /// @param plant     exact states at the sample
  std::span<const daq::JointState> add(double time, const Eigen::VectorXd& readings,
                                       const Plant& plant);

 private:
  struct MeasuredJoint {
    std::size_t joint;
    Eigen::Index encoder;
    double count;  // [rad or m]; 0: not known
    daq::JointTracker tracker = {};
  };
  std::vector<MeasuredJoint> measured_;
  std::vector<daq::JointState> states_;
};

}  // namespace service
