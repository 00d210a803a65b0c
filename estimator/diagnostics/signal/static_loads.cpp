#include "estimator/diagnostics/signal/static_loads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

constexpr std::array kDryFriction = {JointParameter::kCoulombTorque,
                                     JointParameter::kStribeckTorque, JointParameter::kLoadFriction,
                                     JointParameter::kLoadFrictionAngular};
constexpr std::array kStaticTorques = {JointParameter::kConstantTorque, JointParameter::kStiffness,
                                       JointParameter::kRestAngle};

/// Returns the index of the encoder that reads a joint, with the fewest other joints.
int encoder_of_joint(const std::vector<Encoder>& sensors, int joint) {
  const auto joints_of = [&](const Encoder& sensor) {
    const bool reads = std::ranges::count(sensor.terms, joint, &Encoder::JointTerm::joint) > 0;
    return reads ? sensor.terms.size() : std::numeric_limits<std::size_t>::max();
  };
  return static_cast<int>(std::ranges::min_element(sensors, {}, joints_of) - sensors.begin());
}

bool is_any_estimated(const Mechanism& mechanism, int joint,
                      std::span<const JointParameter> quantities) {
  return std::ranges::any_of(quantities, [&](JointParameter quantity) {
    return is_changed_by_fit(mechanism, mechanism.joint_parameter_index(joint, quantity));
  });
}

/// Returns the largest magnitude of a parameter: ten times its initial value if it is estimated.
double largest_magnitude(const Mechanism& mechanism, int joint, JointParameter quantity) {
  const int index = mechanism.joint_parameter_index(joint, quantity);
  return std::abs(mechanism.at(index).value) *
         (is_changed_by_fit(mechanism, index) ? kStartSlack : 1.0);
}

/// Computes the static equilibrium of the joints at constant commands.
class StaticEquilibrium {
 public:
  StaticEquilibrium(const Mechanism& mechanism, const Eigen::VectorXd& controls)
      : dynamics_(mechanism, parameter_values(mechanism)), control_(mechanism.joint_count()) {
    control_.setZero();
    Eigen::Index motor = 0;
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      if (!mechanism.joints[static_cast<std::size_t>(j)].motor.present) continue;
      control_[j] = controls[motor++];
    }
  }

  double control(int joint) const { return control_[joint]; }

  /// Returns the load at each joint that dry friction would have to hold.
  Eigen::VectorXd loads(const Eigen::VectorXd& coordinates) {
    const JointVector<double> still = JointVector<double>::Zero(control_.size());
    JointVector<double> torque_residual(control_.size());
    dynamics_.torque_residual(coordinates, still, still, control_, torque_residual);
    return torque_residual;
  }

  /// Returns the smallest load at one joint over all encoder zeros within their uncertainty; 0 if
  /// the sign of the load is uncertain.
  double least_load(const Mechanism& mechanism, int joint, const Eigen::VectorXd& coordinates) {
    double least = loads(coordinates)[joint];
    for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
      const JointKind kind = mechanism.joints[static_cast<std::size_t>(j)].kind;
      for (const double side : {1.0, -1.0}) {
        Eigen::VectorXd beside = coordinates;
        beside[j] += side * kZeroSlack * joint_units(kind).scale;
        const double load = loads(beside)[joint];
        if (!(load * least > 0.0)) return 0.0;
        if (std::abs(load) < std::abs(least)) least = load;
      }
    }
    return std::abs(least);
  }

  /// Returns the largest dry friction of a joint in the configuration evaluated last.
  double friction(int joint) const { return dynamics_.dry_friction_bound(joint, 0.0); }

  double inertia(int joint, const Eigen::VectorXd& coordinates) {
    return mass_matrix(dynamics_, coordinates)(joint, joint);
  }

 private:
  TreeInverseDynamics<double> dynamics_;
  JointVector<double> control_;
};

bool is_at_stop(const Mechanism& mechanism, int joint, double coordinate) {
  return std::ranges::any_of(joint_end_stops(mechanism), [&](const JointStop& stop) {
    const JointKind kind = mechanism.joints[static_cast<std::size_t>(joint)].kind;
    return stop.joint == joint &&
           stop.distance_from_stop(coordinate) <= kZeroSlack * joint_units(kind).scale;
  });
}

/// Returns whether the load and the friction of a joint are known to an order of magnitude.
bool is_known(const Mechanism& mechanism, int joint, double friction) {
  if (has_steep_friction(mechanism, joint) || is_any_estimated(mechanism, joint, kStaticTorques))
    return false;
  return friction > 0.0 || !is_any_estimated(mechanism, joint, kDryFriction);
}

}  // namespace

double NonEquilibriumJoint::time_to_move(double distance) const {
  return std::sqrt(2.0 * distance * inertia / excess) + distance * damping / excess;
}

Eigen::VectorXd joint_coordinates(const Mechanism& mechanism, const Eigen::VectorXd& readings) {
  const EncoderToJointMap map(mechanism);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  Eigen::VectorXd angles = readings;
  for (Eigen::Index i = 0; i < angles.size(); ++i) {
    angles[i] += mechanism.at(sensors[static_cast<std::size_t>(i)].offset).value;
  }
  if (angles.allFinite()) angles += map.full_turn_corrections(angles);
  Eigen::VectorXd coordinates = map.joint_coordinates(angles);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!map.is_observed(j)) coordinates[j] = std::numeric_limits<double>::quiet_NaN();
  }
  return coordinates;
}

Eigen::VectorXd static_loads(const Mechanism& mechanism, const Eigen::VectorXd& coordinates,
                             const Eigen::VectorXd& controls) {
  return StaticEquilibrium(mechanism, controls).loads(coordinates);
}

std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Eigen::VectorXd& readings,
                                                             const Eigen::VectorXd& controls) {
  std::vector<NonEquilibriumJoint> found;
  if (!is_tree_mechanism(mechanism) || mechanism.joint_count() > kTreeJointsMax) return found;
  const Eigen::VectorXd coordinates = joint_coordinates(mechanism, readings);
  if (!coordinates.allFinite()) return found;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  StaticEquilibrium equilibrium(mechanism, controls);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const double load = equilibrium.least_load(mechanism, j, coordinates);
    const double friction = equilibrium.friction(j);
    if (!is_known(mechanism, j, friction) || is_at_stop(mechanism, j, coordinates[j])) continue;
    double held = friction * (is_any_estimated(mechanism, j, kDryFriction) ? kStartSlack : 1.0);
    const double gain = largest_magnitude(mechanism, j, JointParameter::kMotorGain);
    if (is_changed_by_fit(mechanism,
                          mechanism.joint_parameter_index(j, JointParameter::kMotorGain))) {
      held += gain * std::abs(equilibrium.control(j));
    }
    if (!(load > held)) continue;
    const double damping = largest_magnitude(mechanism, j, JointParameter::kViscous) +
                           gain * largest_magnitude(mechanism, j, JointParameter::kBackEmf);
    found.push_back({j, encoder_of_joint(sensors, j), coordinates[j], load, friction,
                     load - held, equilibrium.inertia(j, coordinates), damping});
  }
  return found;
}

}  // namespace estimator
