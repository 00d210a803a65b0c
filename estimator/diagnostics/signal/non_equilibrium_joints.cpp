#include "estimator/diagnostics/signal/non_equilibrium_joints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Uncertainty of encoder zeros and end stops [rad].
constexpr double kZeroSlack = 0.1;
/// Largest assumed ratio of a free parameter to its initial value.
constexpr double kStartSlack = 10.0;

constexpr std::array kDryFriction = {JointQuantity::kCoulombTorque, JointQuantity::kStribeckTorque,
                                     JointQuantity::kLoadFriction,
                                     JointQuantity::kLoadFrictionAngular};
constexpr std::array kPulls = {JointQuantity::kConstantTorque, JointQuantity::kStiffness,
                               JointQuantity::kRestAngle};

/// Returns the index of the encoder that reads each joint alone; nullopt if a joint has none.
std::optional<std::vector<int>> sensor_of_each_joint(const Mechanism& mechanism,
                                                     const std::vector<Encoder>& sensors) {
  std::vector<int> of_joint(static_cast<std::size_t>(mechanism.joint_count()), -1);
  for (int i = 0; i < std::ssize(sensors); ++i) {
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    if (sensor.terms.size() != 1) continue;
    of_joint[static_cast<std::size_t>(sensor.terms.front().joint)] = i;
  }
  if (std::ranges::count(of_joint, -1) > 0) return {};
  return of_joint;
}

/// Returns the first reading of a sensor; NaN if there is none.
double first_reading(const Recording& recording, Eigen::Index sensor) {
  for (const Segment& segment : recording.segments) {
    for (const double reading : segment.angles.col(sensor)) {
      if (!std::isnan(reading)) return reading;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool any_varies(const Mechanism& mechanism, int joint, std::span<const JointQuantity> quantities) {
  return std::ranges::any_of(quantities, [&](JointQuantity quantity) {
    return changes_in_fit(mechanism, mechanism.index_of_joint(joint, quantity));
  });
}

/// Computes the static equilibrium of the joints at constant commands.
class StaticEquilibrium {
 public:
  StaticEquilibrium(const Mechanism& mechanism, const Recording& recording)
      : dynamics_(mechanism, parameter_values(mechanism)), control_(mechanism.joint_count()) {
    control_.setZero();
    Eigen::Index motor = 0;
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      if (!mechanism.joints[static_cast<std::size_t>(j)].motorised) continue;
      control_[j] = recording.segments.front().controls(0, motor++);
    }
  }

  double control(int joint) const { return control_[joint]; }

  /// Returns the load at each joint that dry friction would have to hold.
  Eigen::VectorXd pulls(const Eigen::VectorXd& coordinates) {
    const JointVector<double> still = JointVector<double>::Zero(control_.size());
    JointVector<double> torque_residual(control_.size());
    dynamics_.torque_residual(coordinates, still, still, control_, torque_residual);
    return torque_residual;
  }

  /// Returns the smallest load at one joint over all encoder zeros within their uncertainty; 0 if
  /// the sign of the load is uncertain.
  double least_load(const Mechanism& mechanism, int joint, const Eigen::VectorXd& coordinates) {
    double least = pulls(coordinates)[joint];
    for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
      const JointKind kind = mechanism.joints[static_cast<std::size_t>(j)].kind;
      for (const double side : {1.0, -1.0}) {
        Eigen::VectorXd beside = coordinates;
        beside[j] += side * kZeroSlack * joint_units(kind).scale;
        const double load = pulls(beside)[joint];
        if (!(load * least > 0.0)) return 0.0;
        if (std::abs(load) < std::abs(least)) least = load;
      }
    }
    return std::abs(least);
  }

  /// Returns the largest dry friction of a joint in the configuration evaluated last.
  double friction(int joint) const { return dynamics_.dry_bound(joint, 0.0); }

 private:
  TreeInverseDynamics<double> dynamics_;
  JointVector<double> control_;
};

bool is_at_stop(const Mechanism& mechanism, int joint, double coordinate) {
  return std::ranges::any_of(joint_stops(mechanism), [&](const JointStop& stop) {
    const JointKind kind = mechanism.joints[static_cast<std::size_t>(joint)].kind;
    return stop.joint == joint && stop.distance(coordinate) <= kZeroSlack * joint_units(kind).scale;
  });
}

/// Returns whether the load and the friction of a joint are known to an order of magnitude.
bool is_known(const Mechanism& mechanism, int joint, double friction) {
  if (has_steep_law(mechanism, joint) || any_varies(mechanism, joint, kPulls)) return false;
  return friction > 0.0 || !any_varies(mechanism, joint, kDryFriction);
}

}  // namespace

std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Recording& recording) {
  std::vector<NonEquilibriumJoint> restless;
  if (recording.segments.empty() || !is_tree(mechanism)) return restless;
  if (recording.segments.front().sample_count() == 0) return restless;
  if (!recording.segments.front().absent_bodies.empty()) return restless;
  if (mechanism.joint_count() > kTreeJointsMax) return restless;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const std::optional<std::vector<int>> sensor_of = sensor_of_each_joint(mechanism, sensors);
  if (!sensor_of) return restless;
  Eigen::VectorXd coordinates(mechanism.joint_count()), readings(mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int i = (*sensor_of)[static_cast<std::size_t>(j)];
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    readings[j] = first_reading(recording, i);
    coordinates[j] =
        sensor.terms.front().sign * (readings[j] + parameter_at(mechanism, sensor.offset).value);
  }
  if (!coordinates.allFinite()) return restless;
  StaticEquilibrium standstill(mechanism, recording);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const double load = standstill.least_load(mechanism, j, coordinates);
    const double friction = standstill.friction(j);
    if (!is_known(mechanism, j, friction) || is_at_stop(mechanism, j, coordinates[j])) continue;
    double held = friction * (any_varies(mechanism, j, kDryFriction) ? kStartSlack : 1.0);
    if (changes_in_fit(mechanism, mechanism.index_of_joint(j, JointQuantity::kMotorGain))) {
      held += kStartSlack * std::abs(mechanism.joint_parameter(j, JointQuantity::kMotorGain).value *
                                     standstill.control(j));
    }
    if (!(load > held)) continue;
    restless.push_back({(*sensor_of)[static_cast<std::size_t>(j)], readings[j], load, friction});
  }
  return restless;
}

}  // namespace estimator
