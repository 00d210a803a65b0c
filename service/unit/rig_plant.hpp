#pragma once

#include <Eigen/Core>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/encoder.hpp"
#include "firmware_iface/sim/plant.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/plant.hpp"
#include "service/unit/linear_history.hpp"

namespace service {

/// Assignment of a conversion unit's inputs and outputs, in the unit's order, to encoders, motors
/// and sensors of a rig.
struct UnitWiring {
  std::vector<int> encoders;  ///< indices among the rig's encoders (used_encoders)
  std::vector<int> motors;    ///< indices of the driven joints
  std::vector<int> sensors;   ///< indices of the inertial sensors among the rig's sensors
};

/// Simulated rig from a rig file, connected to a simulated conversion unit. It integrates the
/// equations of motion, and includes the delays of motors and encoders. If the motion cannot be
/// integrated, the rig stops.
class RigPlant final : public firmware_iface::sim::UnitPlant {
 public:
  /// @param start    initial coordinates of all joints [rad or m], with closed kinematic loops
  /// @param stop     set to end the program, if the motion cannot be integrated (see `error`)
  /// @throws proto::InputError for a negative delay of a motor or encoder
  RigPlant(Rig rig, UnitWiring wiring, const Eigen::VectorXd& start, std::atomic<bool>& stop);

  int joint_count() const override { return static_cast<int>(wiring_.encoders.size()); }
  const firmware_iface::sim::JointState& state() const override { return state_; }
  double encoder_angle(int joint) const override;
  void advance(double dt_s, const firmware_iface::sim::MotorArray& command) noexcept override;

  /// Returns the readings of an inertial sensor as the motion of a body along the sensor's axes.
  /// The delays of sensors are not simulated.
  /// @param joint  index of the sensor in the unit's order
  firmware_iface::sim::BodyMotion compute_body_motion(
      int joint, const firmware_iface::sim::MotorArray& command) const override;

  void set_held_by_hand(bool held) override;
  bool is_held_by_hand() const override { return is_held_; }

  /// Sets the coordinate of a joint, or of the first joint that an encoder between bodies reads.
  /// The rig must have no loops and no mimic joints.
  void set_joint_angle(int joint, double angle_rad) override;

  void restore_initial_state() override;

  /// Returns why the motion could not be integrated; empty if it could.
  const std::string& error() const { return error_; }

 private:
  void set_motion(const Eigen::VectorXd& coordinates);
  void integrate(double dt) noexcept;
  void publish();
  Eigen::VectorXd unit_order_to_joint_order(const firmware_iface::sim::MotorArray& command) const;

  Rig rig_;
  UnitWiring wiring_;
  Eigen::VectorXd start_;
  std::vector<estimator::Encoder> encoders_;  // in the unit's order
  std::vector<int> motor_joints_;             // joints with motors, in the order of the file
  Eigen::VectorXd motor_delays_;              // in the order of the file [s]
  Eigen::VectorXd encoder_delays_;            // in the unit's order [s]
  std::unique_ptr<PhysicalPlant> plant_;
  mutable estimator::TreeInverseDynamics<double> dynamics_;
  firmware_iface::sim::JointState state_;
  double time_ = 0.0;        // since the start [s]
  double pending_ = 0.0;     // duration that is not yet integrated [s]
  Eigen::VectorXd impulse_;  // integral of each motor's command over time
  LinearHistory impulses_;
  Eigen::VectorXd angles_;  // of the encoders, without delay
  LinearHistory past_angles_;
  bool is_held_ = false;
  std::atomic<bool>& stop_;
  std::string error_;
};

}  // namespace service
