#include "estimator/doctor/restless_joints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/model/ties.hpp"

namespace estimator {
namespace {

/// Uncertainty of zeros and stops [rad].
constexpr double kZeroSlack = 0.1;
/// Largest ratio of a free parameter to its initial value.
constexpr double kStartSlack = 10.0;

constexpr std::array kDryFriction = {HingeQuantity::kCoulombTorque, HingeQuantity::kStribeckTorque,
                                     HingeQuantity::kLoadFriction,
                                     HingeQuantity::kLoadFrictionAngular};
constexpr std::array kPulls = {HingeQuantity::kConstantTorque, HingeQuantity::kStiffness,
                               HingeQuantity::kRestAngle};

/// Returns the encoder of each single joint, by index; nothing if a joint has none.
std::optional<std::vector<int>> sensor_of_each_joint(const Mechanism& mechanism,
                                                     const std::vector<Sensor>& sensors) {
  std::vector<int> of_joint(static_cast<std::size_t>(mechanism.hinge_count()), -1);
  for (int i = 0; i < std::ssize(sensors); ++i) {
    const Sensor& sensor = sensors[static_cast<std::size_t>(i)];
    if (sensor.terms.size() != 1) continue;
    of_joint[static_cast<std::size_t>(sensor.terms.front().hinge)] = i;
  }
  if (std::ranges::count(of_joint, -1) > 0) return {};
  return of_joint;
}

/// Returns the first reading of a sensor; NaN: there is none.
double first_reading(const Recording& recording, Eigen::Index sensor) {
  for (const Segment& segment : recording.segments) {
    for (const double reading : segment.angles.col(sensor)) {
      if (!std::isnan(reading)) return reading;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool any_varies(const Mechanism& mechanism, int joint, std::span<const HingeQuantity> quantities) {
  return std::ranges::any_of(quantities, [&](HingeQuantity quantity) {
    return varies(mechanism, mechanism.index_of_hinge(joint, quantity));
  });
}

/// Static equilibrium of the joints at constant commands.
class Standstill {
 public:
  Standstill(const Mechanism& mechanism, const Recording& recording)
      : dynamics_(mechanism, values_of(mechanism)), control_(mechanism.hinge_count()) {
    control_.setZero();
    Eigen::Index motor = 0;
    for (int j = 0; j < mechanism.hinge_count(); ++j) {
      if (!mechanism.hinges[static_cast<std::size_t>(j)].motorised) continue;
      control_[j] = recording.segments.front().controls(0, motor++);
    }
  }

  double control(int joint) const { return control_[joint]; }

  /// Returns the load at each joint that dry friction would have to hold.
  Eigen::VectorXd pulls(const Eigen::VectorXd& coordinates) {
    const JointVector<double> still = JointVector<double>::Zero(control_.size());
    JointVector<double> imbalance(control_.size());
    dynamics_.imbalance(coordinates, still, still, control_, imbalance);
    return imbalance;
  }

  /// Returns the smallest load at one joint over all zeros within their uncertainty; 0 if its sign
  /// is uncertain.
  double least_pull(const Mechanism& mechanism, int joint, const Eigen::VectorXd& coordinates) {
    double least = pulls(coordinates)[joint];
    for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
      const JointKind kind = mechanism.hinges[static_cast<std::size_t>(j)].kind;
      for (const double side : {1.0, -1.0}) {
        Eigen::VectorXd beside = coordinates;
        beside[j] += side * kZeroSlack * joint_units(kind).scale;
        const double pull = pulls(beside)[joint];
        if (!(pull * least > 0.0)) return 0.0;
        if (std::abs(pull) < std::abs(least)) least = pull;
      }
    }
    return std::abs(least);
  }

  /// Largest dry friction in the last configuration.
  double friction(int joint) const { return dynamics_.dry_bound(joint, 0.0); }

 private:
  TreeInverseDynamics<double> dynamics_;
  JointVector<double> control_;
};

bool is_at_stop(const Mechanism& mechanism, int joint, double coordinate) {
  return std::ranges::any_of(joint_stops(mechanism), [&](const JointStop& stop) {
    const JointKind kind = mechanism.hinges[static_cast<std::size_t>(joint)].kind;
    return stop.joint == joint && stop.distance(coordinate) <= kZeroSlack * joint_units(kind).scale;
  });
}

/// Returns whether the loads and the friction of a joint are known to an order of magnitude.
bool is_known(const Mechanism& mechanism, int joint, double friction) {
  if (has_steep_law(mechanism, joint) || any_varies(mechanism, joint, kPulls)) return false;
  return friction > 0.0 || !any_varies(mechanism, joint, kDryFriction);
}

}  // namespace

std::vector<RestlessJoint> restless_joints(const Mechanism& mechanism, const Recording& recording) {
  std::vector<RestlessJoint> restless;
  if (recording.segments.empty() || !is_tree(mechanism)) return restless;
  if (recording.segments.front().sample_count() == 0) return restless;
  if (!recording.segments.front().absent_bodies.empty()) return restless;
  if (mechanism.hinge_count() > kTreeHingesMax) return restless;
  const std::vector<Sensor> sensors = sensors_of(mechanism);
  const std::optional<std::vector<int>> sensor_of = sensor_of_each_joint(mechanism, sensors);
  if (!sensor_of) return restless;
  Eigen::VectorXd coordinates(mechanism.hinge_count()), readings(mechanism.hinge_count());
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const int i = (*sensor_of)[static_cast<std::size_t>(j)];
    const Sensor& sensor = sensors[static_cast<std::size_t>(i)];
    readings[j] = first_reading(recording, i);
    coordinates[j] =
        sensor.terms.front().sign * (readings[j] + parameter_at(mechanism, sensor.offset).value);
  }
  if (!coordinates.allFinite()) return restless;
  Standstill standstill(mechanism, recording);
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const double pull = standstill.least_pull(mechanism, j, coordinates);
    const double friction = standstill.friction(j);
    if (!is_known(mechanism, j, friction) || is_at_stop(mechanism, j, coordinates[j])) continue;
    double held = friction * (any_varies(mechanism, j, kDryFriction) ? kStartSlack : 1.0);
    if (varies(mechanism, mechanism.index_of_hinge(j, HingeQuantity::kMotorGain))) {
      held += kStartSlack * std::abs(mechanism.hinge_parameter(j, HingeQuantity::kMotorGain).value *
                                     standstill.control(j));
    }
    if (!(pull > held)) continue;
    restless.push_back({(*sensor_of)[static_cast<std::size_t>(j)], readings[j], pull, friction});
  }
  return restless;
}

}  // namespace estimator
