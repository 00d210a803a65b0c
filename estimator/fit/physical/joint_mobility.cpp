#include "estimator/fit/physical/joint_mobility.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {
namespace {

/// Integration steps as fractions of the time constant of friction, 1/(steepness · mobility). The
/// first two limit all steps: for the slope of steep friction at rest, and for damping. The third
/// limits steps near rest. Runge–Kutta is stable up to 2.8, which leaves a margin for steepness
/// that grows in the fit, and for the examination of rig files, whose steps are four times as long.
/// Shorter steps near rest change the parameters of the evaluation data by at most 0.03 standard
/// deviations.
constexpr double kSmoothShare = 0.35, kDampingShare = 0.6, kCreepShare = 0.7;
constexpr double kShortestStep = 2e-5;  // [s]
constexpr double kRateChange = 1e-3;    // of a joint's speed, or in rad/s, for derivatives by it
/// Number of states examined per segment, with steep friction and without. Damping alone varies
/// little, and Runge–Kutta has a margin.
constexpr Eigen::Index kSteepStates = 50, kDampedStates = 5;
constexpr double kSingular = 1e-12;  // relative to the largest diagonal element: no mass
constexpr double kDependent = 1e-9;  // relative to the largest row: dependent closures

using Dynamics = TreeInverseDynamics<double>;

/// Returns the joint accelerations for unit joint torques in closed loops: Z (Zᵀ M Z)⁻¹ Zᵀ, with
/// the mass matrix M and a basis Z of the motions that the loops permit.
Eigen::MatrixXd joint_mobility(Dynamics& dynamics, LoopClosure& closure,
                               const Eigen::VectorXd& state) {
  const Eigen::MatrixXd mass = mass_matrix(dynamics, state.head(dynamics.joint_count()));
  if (!closure.has_loops())
    return solve_square_system(mass, Eigen::MatrixXd::Identity(mass.rows(), mass.cols()));
  const Eigen::MatrixXd motions =
      null_space(closure.closure_jacobian(state.head(mass.rows())), kDependent);
  return motions * solve_square_system(motions.transpose() * mass * motions, motions.transpose());
}

/// Returns the names of the parameters that determine the slope of a joint's friction at rest.
std::string slopes_of(const Mechanism& mechanism, Eigen::Index joint) {
  std::string text;
  for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
    const FrictionParameter& facts = kFrictionParameters[place];
    const int j = static_cast<int>(joint);
    if (facts.most == nullptr || !has_friction_law(mechanism, j, facts.law)) continue;
    text += (text.empty() ? "" : ", ") +
            mechanism.joint_parameter(j, friction_parameter_at(place)).name;
  }
  return text;
}

/// Returns the damping of every joint: the derivative of the torque that opposes its motion by its
/// rate, at a state. It includes viscous friction, drag of joints and bodies, and the back-EMF of
/// motors; dry friction has none.
Eigen::VectorXd joint_damping(Dynamics& dynamics, const Eigen::VectorXd& state) {
  const int n = dynamics.joint_count();
  const JointVector<double> angles = state.head(n), none = JointVector<double>::Zero(n);
  const auto torque = [&](int joint, double change) {
    JointVector<double> rates = state.tail(n), all(n);
    rates[joint] += change;
    dynamics.torque_residual(angles, rates, none, none, all);
    return all[joint];
  };
  Eigen::VectorXd damping(n);
  for (int j = 0; j < n; ++j) {
    const double change = kRateChange * std::max(1.0, std::abs(state[n + j]));
    damping[j] = std::max(0.0, (torque(j, change) - torque(j, -change)) / (2.0 * change));
  }
  return damping;
}

/// Returns the rates at which friction of the given steepness stops the joints [1/s]: the matrix
/// whose largest eigenvalue is the fastest rate.
Eigen::MatrixXd friction_rates(const Eigen::MatrixXd& mobility, const Eigen::VectorXd& steepness) {
  const Eigen::VectorXd root = steepness.cwiseSqrt();
  return root.asDiagonal() * mobility * root.asDiagonal();
}

/// Returns the names of a joint's parameters that damp its motion: those that are not zero.
std::string damping_parameters(const Mechanism& mechanism, int joint) {
  std::string text;
  for (const JointParameter quantity :
       {JointParameter::kViscous, JointParameter::kQuadraticDrag, JointParameter::kBackEmf}) {
    const Parameter& parameter = mechanism.joint_parameter(joint, quantity);
    if (parameter.value == 0.0) continue;
    text += (text.empty() ? "" : ", ") + parameter.name + " = " + number_text(parameter.value) +
            " " + parameter.unit;
  }
  return text.empty() ? "drag of its bodies" : text;
}

/// Returns the longest integration step for the given damping [s].
double longest_damped_step(const Mechanism& mechanism, const Eigen::MatrixXd& mobility,
                           const Eigen::VectorXd& damping) {
  const Eigen::MatrixXd rates = friction_rates(mobility, damping);
  const double fastest = symmetric_eigen(rates).values.maxCoeff();
  if (!(fastest > kDampingShare / kShortestStep)) return kDampingShare / fastest;
  Eigen::Index index = 0;
  rates.diagonal().maxCoeff(&index);
  throw std::invalid_argument(
      "joint " + quoted(mechanism.joints[index].name) + ": the friction (" +
      damping_parameters(mechanism, static_cast<int>(index)) +
      ") stops the joint too fast for the shortest integration step (" +
      number_text(kShortestStep) + " s): within " + number_text(1.0 / fastest) +
      " s. Check the unit of this friction and the inertia that the joint moves, "
      "or start the estimation with less friction");
}

/// Returns the longest integration step for friction with the given steepness at rest [s].
double longest_step(const Mechanism& mechanism, const Eigen::MatrixXd& mobility,
                    const Eigen::VectorXd& steepness, double share) {
  const Eigen::MatrixXd rate = friction_rates(mobility, steepness);
  const double longest = share / symmetric_eigen(rate).values.maxCoeff();
  if (longest >= kShortestStep) return longest;
  Eigen::Index index = 0;
  rate.diagonal().maxCoeff(&index);
  const Joint& joint = mechanism.joints[index];
  const bool creeps = joint.transition_speed > 0.0;
  throw std::invalid_argument(
      "joint " + quoted(joint.name) + ": the " +
      (creeps ? "transition speed (" + number_text(joint.transition_speed, 3) + " " +
                    joint.units().rate + ") is too low"
              : "smooth friction (" + slopes_of(mechanism, index) + ") rises too steeply") +
      " and needs integration steps of " + number_text(longest) + " s; use " +
      (creeps ? "a larger transition speed, or no transition speed (the joint can then stick)"
              : "a flatter rise, or dry friction"));
}

}  // namespace

bool has_steep_friction(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joints[j].transition_speed > 0.0) return true;
    if (has_steep_friction(mechanism, j)) return true;
  }
  return false;
}

void check_moved_mass(const Mechanism& mechanism, const Eigen::VectorXd& state) {
  // A joint that closes a loop need not move a mass of its own.
  if (!is_tree_mechanism(mechanism)) return;
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  const Eigen::MatrixXd mass = mass_matrix(dynamics, state.head(dynamics.joint_count()));
  if (!mass.allFinite()) return;  // the state is too large: another cause
  const SymmetricFactor factor(mass);
  const Eigen::VectorXd pivots = factor.pivots();
  const auto none = [&](double pivot) { return !(pivot > kSingular * pivots.maxCoeff()); };
  const auto found = std::find_if(pivots.begin(), pivots.end(), none);
  if (found == pivots.end()) return;
  const auto joint = static_cast<std::size_t>(factor.order()[found - pivots.begin()]);
  throw std::invalid_argument("joint " + quoted(mechanism.joints[joint].name) +
                              " moves no mass at the start of the recordings; give the bodies that "
                              "it carries a mass, or change its axis");
}

FrictionStepLimits compute_friction_step_limits(const Mechanism& mechanism,
                                                const std::vector<Eigen::MatrixXd>& states) {
  FrictionStepLimits steps;
  const bool is_steep = has_steep_friction(mechanism);
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  LoopClosure closure(mechanism);
  const int n = mechanism.joint_count();
  for (const Eigen::MatrixXd& each : states) {
    const Eigen::Index count = is_steep ? kSteepStates : kDampedStates;
    const Eigen::Index stride = std::max<Eigen::Index>(1, each.cols() / count);
    for (Eigen::Index k = 0; k < each.cols(); k += stride) {
      const Eigen::VectorXd damping = joint_damping(dynamics, each.col(k));
      const bool is_damped = damping.maxCoeff() > 0.0;
      if (!is_damped && !is_steep) continue;
      const Eigen::MatrixXd mobility = joint_mobility(dynamics, closure, each.col(k));
      if (is_steep) {
        Eigen::VectorXd steepness(n);  // derivative of friction by speed at rest
        for (int j = 0; j < n; ++j) steepness[j] = dynamics.friction_slope_at_rest(j);
        steps.everywhere =
            std::min(steps.everywhere, longest_step(mechanism, mobility, steepness, kSmoothShare));
        for (int j = 0; j < n; ++j) {
          const double creep = mechanism.joints[j].transition_speed;
          if (creep > 0.0) steepness[j] += dynamics.dry_friction_bound(j, 0.0) / creep;
        }
        steps.near_rest =
            std::min(steps.near_rest, longest_step(mechanism, mobility, steepness, kCreepShare));
      }
      if (is_damped) {
        steps.everywhere =
            std::min(steps.everywhere, longest_damped_step(mechanism, mobility, damping));
      }
    }
  }
  return steps;
}

}  // namespace estimator
