#include "estimator/fit/physical/joint_mobility.hpp"

#include <algorithm>
#include <stdexcept>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {
namespace {

/// Integration steps as fractions of the time constant of friction at rest, 1/(steepness ·
/// mobility). The first limits all steps, the second limits steps near rest. Runge–Kutta is stable
/// up to 2.8, which leaves a margin for steepness that grows in the fit. Shorter steps near rest
/// change the parameters of the evaluation data by at most 0.03 standard deviations.
constexpr double kSmoothShare = 0.35, kCreepShare = 0.7;
constexpr double kShortestCreepStep = 2e-5;  // [s]
constexpr Eigen::Index kStatesLooked = 50;   // per segment
constexpr double kSingular = 1e-12;          // relative to the largest diagonal element: no mass
constexpr double kDependent = 1e-9;          // relative to the largest row: dependent closures

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

/// Returns the longest integration step for friction with the given steepness [s].
double longest_step(const Mechanism& mechanism, const Eigen::MatrixXd& mobility,
                    const Eigen::VectorXd& steepness, double share) {
  const Eigen::VectorXd root = steepness.cwiseSqrt();
  const Eigen::MatrixXd rate = root.asDiagonal() * mobility * root.asDiagonal();
  const double longest = share / symmetric_eigen(rate).values.maxCoeff();
  if (longest >= kShortestCreepStep) return longest;
  Eigen::Index index = 0;
  rate.diagonal().maxCoeff(&index);
  const Joint& joint = mechanism.joints[index];
  const bool creeps = joint.transition_speed > 0.0;
  throw std::invalid_argument(
      "joint " + quoted(joint.name) + ": " +
      (creeps ? "a transition speed of " + number_text(joint.transition_speed) + " " +
                    joint.units().rate
              : "smooth friction that rises so steeply (" + slopes_of(mechanism, index) + ")") +
      " needs integration steps of " + number_text(longest) + " s; use " +
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
  if (!is_tree_mechanism(mechanism))
    return;  // a joint that closes a loop need not move a mass of its own
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  const SymmetricFactor factor(mass_matrix(dynamics, state.head(dynamics.joint_count())));
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
  if (!has_steep_friction(mechanism)) return steps;
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  LoopClosure closure(mechanism);
  const int n = mechanism.joint_count();
  for (const Eigen::MatrixXd& each : states) {
    const Eigen::Index stride = std::max<Eigen::Index>(1, each.cols() / kStatesLooked);
    for (Eigen::Index k = 0; k < each.cols(); k += stride) {
      const Eigen::MatrixXd mobility = joint_mobility(dynamics, closure, each.col(k));
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
  }
  return steps;
}

}  // namespace estimator
