
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/diagnostics/description/hypothesis.hpp"
#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Smallest relative change of a parameter that is reported as a cause of a misfit.
constexpr double kMinRelativeChange = 1e-3;
constexpr double kFactorMost = 100.0;   // largest change of a freed gain, mass or inertia
constexpr double kAtBound = 1e-3;       // relative distance at which a value is at its bound
constexpr double kStopShift = 0.5;      // largest change of a stop [rad], scaled for sliding joints

/// A mechanism whose fixed moments of inertia are multiplied by factors, which are additional free
/// parameters.
struct ScaledInertias {
  Mechanism mechanism;
  int first = 0;  ///< index of the first factor; one per body
};

/// Returns the indices of the moments and products of inertia of a body that are fixed and nonzero.
std::vector<int> fixed_moments(const Mechanism& mechanism, int body) {
  std::vector<int> indices;
  for (const BodyParameter moment :
       {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz, BodyParameter::kJxy,
        BodyParameter::kJxz, BodyParameter::kJyz}) {
    const int index = mechanism.index(body, moment);
    if (is_fixed_parameter(mechanism, index) && mechanism.at(index).value != 0.0)
      indices.push_back(index);
  }
  return indices;
}

ScaledInertias scale_fixed_moments(const Mechanism& mechanism, const std::vector<int>& bodies) {
  ScaledInertias scaled{mechanism, static_cast<int>(mechanism.parameters.size())};
  Mechanism& own = scaled.mechanism;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const int body : bodies) {
    const auto factor = static_cast<int>(own.parameters.size());
    own.parameters.push_back({.name = own.bodies[static_cast<std::size_t>(body)].name + " factor",
                              .unit = "-",
                              .value = 1.0,
                              .lower = 1.0 / kFactorMost,
                              .upper = kFactorMost,
                              .free = true});
    for (const int index : fixed_moments(mechanism, body)) {
      Parameter& moment = own.at(index);
      own.dependencies.push_back({.parameter = index, .terms = {{factor, moment.value}}});
      moment.lower = -kInfinity;
      moment.upper = kInfinity;
    }
  }
  resolve_dependencies(own.dependencies);
  return scaled;
}

/// Fits factors of the fixed moments of inertia of bodies. If the fit improves, adds a cause that
/// lists the significant ones.
void try_inertia_factors(const MisfitProblem& problem, const std::vector<int>& bodies,
                         std::vector<MisfitCause>& causes) {
  const ScaledInertias scaled = scale_fixed_moments(problem.estimate, bodies);
  const ExcerptFit fit = fit_if_promising(problem, scaled.mechanism, problem.excerpts);
  if (!improves_fit_enough(problem, fit)) return;
  std::vector<Message> terms;
  Quantity largest{1.0, "-"};
  std::string body_of_largest;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const int index = scaled.first + static_cast<int>(i);
    const double factor = fit.mechanism().at(index).value;
    const double deviation = fit.standard_deviation(index);
    if (!is_significant(factor - 1.0, deviation) || std::abs(factor - 1.0) < kMinRelativeChange)
      continue;
    const std::string& body = problem.estimate.bodies[static_cast<std::size_t>(bodies[i])].name;
    terms.push_back({MessageCode::kInertiaFactor,
                     {{"body", body}, {"factor", Quantity{factor, "", deviation}}}});
    if (std::abs(std::log(factor)) < std::abs(std::log(largest.value))) continue;
    largest.value = factor;
    body_of_largest = body;
  }
  if (terms.empty()) return;
  MisfitCause cause = make_misfit_cause(
      fit,
      make_finding({MessageCode::kWrongInertia, {{"terms", std::move(terms)}}}, "", body_of_largest,
                   largest),
      problem.excerpts);
  cause.mechanism = problem.estimate;
  for (int i = 0; i < scaled.first; ++i) cause.mechanism.at(i).value = fit.mechanism().at(i).value;
  causes.push_back(std::move(cause));
}

/// Returns the indices of fixed masses, shaft inertias and centres of mass that are not zero.
std::vector<int> fixed_inertial_parameters(const Mechanism& mechanism) {
  std::vector<int> indices;
  const auto add = [&](int index) {
    if (is_fixed_parameter(mechanism, index) && mechanism.at(index).value != 0.0)
      indices.push_back(index);
  };
  for (int body = 0; body < mechanism.body_count(); ++body) {
    add(mechanism.index(body, BodyParameter::kMass));
  }
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    add(mechanism.joint_parameter_index(joint, JointParameter::kShaftInertia));
  }
  // The last parameters are centres of mass and other quantities on which parameters depend.
  const auto count = static_cast<int>(mechanism.parameters.size());
  for (int index = mechanism.contact_parameter_index(mechanism.contact_count(), {}); index < count;
       ++index) {
    add(index);
  }
  return indices;
}

/// Transition velocities to try [rad/s], times JointUnits::scale for sliding joints [m/s]. Steps of
/// a decade suffice, since the fit hardly depends on them.
constexpr std::array<double, 3> kTransitionSpeeds = {1e-3, 1e-2, 1e-1};

/// Replaces the Coulomb friction of joints that can stick by its smoothed law.
/// @return these joints, with their transition velocities
std::vector<Message> let_creep(Mechanism& mechanism, double speed) {
  std::vector<Message> creeping;
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    if (!can_stick(mechanism, joint)) continue;
    Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
    own.transition_speed = speed * own.units().scale;
    creeping.push_back(
        {MessageCode::kCreepingJoint,
         {{"joint", own.name}, {"speed", Quantity{own.transition_speed, own.units().rate}}}});
  }
  return creeping;
}

}  // namespace

int fix_inertia_moments_at_bounds(Mechanism& mechanism) {
  int first = -1;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    for (const BodyParameter moment :
         {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz}) {
      Parameter& parameter = mechanism.parameter(body, moment);
      if (!parameter.free || !(parameter.value <= (1.0 + kAtBound) * parameter.lower)) continue;
      parameter.free = false;
      if (first < 0) first = mechanism.index(body, moment);
    }
  }
  return first;
}

/// Tries other joint distances. If the given distances require a negative moment of inertia, any
/// shorter distance fits equally well with some inertia. With the inertia fixed at its bound, the
/// fit yields the longest distance.
void try_joint_distances(const MisfitProblem& whole, std::vector<MisfitCause>& causes) {
  MisfitProblem problem = whole;
  const int bound = fix_inertia_moments_at_bounds(problem.estimate);
  for (int joint = 0; joint < problem.estimate.joint_count(); ++joint) {
    for (int k = 0; k < 6; ++k) {
      const int index =
          problem.estimate.joint_parameter_index(joint, static_cast<JointParameter>(k));
      const Parameter& point = problem.estimate.at(index);
      if (point.value == 0.0 || !is_fixed_parameter(problem.estimate, index)) continue;
      const double length = std::abs(point.value);
      const auto finding_of = [&](double change, double deviation) {
        Message message(MessageCode::kWrongLength,
                        {{"parameter", point.name},
                         {"value", Quantity{point.value + change, "m", deviation}},
                         {"given", Quantity{point.value, "m"}}});
        if (bound >= 0) {
          message.code = MessageCode::kNoRoomForInertia;
          message.arguments.push_back({"inertia", problem.estimate.at(bound).name});
        }
        return make_finding(std::move(message), "", point.name, {change, "m"});
      };
      try_other_parameter_value(problem, index, -2.0 * length, 2.0 * length,
                                kMinRelativeChange * length, finding_of, causes);
    }
  }
}

void try_motor_gains(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  for (int joint = 0; joint < problem.estimate.joint_count(); ++joint) {
    const int index = problem.estimate.joint_parameter_index(joint, JointParameter::kMotorGain);
    const Parameter& gain = problem.estimate.at(index);
    if (!problem.estimate.joints[static_cast<std::size_t>(joint)].motor.present ||
        gain.value == 0.0 || !is_fixed_parameter(problem.estimate, index)) {
      continue;
    }
    const auto finding_of = [&](double change, double deviation) {
      const double value = gain.value + change;
      return make_finding({MessageCode::kWrongGain,
                           {{"parameter", gain.name},
                            {"estimate", Quantity{value, gain.unit, deviation}},
                            {"given", Quantity{gain.value, gain.unit}},
                            {"value", value}}},
                          "", gain.name, {change, gain.unit});
    };
    const double size = std::abs(gain.value);
    try_other_parameter_value(problem, index, -kFactorMost * size, kFactorMost * size,
                              kMinRelativeChange * size, finding_of, causes);
  }
}

/// Tries other values of fixed inertial parameters: first all at once, so that no time is spent on
/// single ones if they explain nothing, then single ones, then the moments of all bodies.
void try_inertial_parameters(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  const Mechanism& estimate = problem.estimate;
  std::vector<int> bodies;
  for (int body = 0; body < estimate.body_count(); ++body) {
    if (!fixed_moments(estimate, body).empty()) bodies.push_back(body);
  }
  const std::vector<int> others = fixed_inertial_parameters(estimate);
  if (bodies.empty() && others.empty()) return;
  Mechanism all = scale_fixed_moments(estimate, bodies).mechanism;
  for (const int index : others) all.at(index).free = true;
  if (!improves_fit_enough(problem, fit_if_promising(problem, all, problem.excerpts))) return;
  const std::size_t before = causes.size();
  for (const int body : bodies) try_inertia_factors(problem, {body}, causes);
  if (causes.size() == before && bodies.size() > 1) try_inertia_factors(problem, bodies, causes);
  for (const int index : others) {
    const Parameter& parameter = estimate.at(index);
    const auto finding_of = [&](double change, double deviation) {
      const Quantity value{parameter.value + change, parameter.unit, deviation};
      return make_finding({MessageCode::kWrongInertialParameter,
                           {{"parameter", parameter.name},
                            {"value", value},
                            {"given", Quantity{parameter.value, parameter.unit}}}},
                          "", parameter.name, {change, parameter.unit});
    };
    const double size = std::abs(parameter.value);
    try_other_parameter_value(problem, index, std::max(parameter.lower, -kFactorMost * size),
                              std::min(parameter.upper, kFactorMost * size),
                              kMinRelativeChange * size, finding_of, causes);
  }
}

void try_stop_positions(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  for (const JointStop& stop : joint_end_stops(problem.estimate)) {
    const int index = problem.estimate.joint_parameter_index(stop.joint, stop.where);
    if (!is_fixed_parameter(problem.estimate, index)) continue;
    const Joint& joint = problem.estimate.joints[static_cast<std::size_t>(stop.joint)];
    const auto finding_of = [&](double change, double deviation) {
      const std::string unit = joint.units().coordinate;
      Finding finding =
          make_finding({MessageCode::kMisplacedStop,
                        {{"joint", joint.name},
                         {"is_lower", stop.side > 0.0},
                         {"is_free", false},
                         {"given", Quantity{stop.position, unit}},
                         {"size", Quantity{stop.position + change, unit, deviation}}}},
                       "", joint.name, {change, unit});
      finding.severity = Severity::kWarning;
      return finding;
    };
    const double scale = joint.units().scale;
    const double shift = kStopShift * scale;
    try_other_parameter_value(problem, index, stop.position - shift, stop.position + shift,
                              kMinRelativeChange * scale, finding_of, causes);
  }
}

void try_joint_position_signs(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  for (const DescriptionHypothesis& hypothesis :
       list_common_description_errors(problem.estimate, problem.excerpts)) {
    if (hypothesis.message.code != MessageCode::kWrongPointSign) continue;
    add_cause_if_fit_improves(
        problem,
        fit_if_promising(problem, corrected_mechanism(problem.estimate, hypothesis),
                         problem.excerpts),
        make_finding(hypothesis.message, "", hypothesis.channel), problem.excerpts, causes);
  }
}

/// Replaces Coulomb friction by the regularized law with the transition velocity that fits best.
/// Adds no cause if no joint can stick.
void try_creeping_friction(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  std::vector<MisfitCause> creep;
  for (const double speed : kTransitionSpeeds) {
    Mechanism creeping = problem.estimate;
    std::vector<Message> joints = let_creep(creeping, speed);
    if (joints.empty()) return;
    add_cause_if_fit_improves(problem, fit_if_promising(problem, creeping, problem.excerpts),
                              make_finding({MessageCode::kCreep, {{"joints", std::move(joints)}}}),
                              problem.excerpts, creep);
  }
  if (creep.empty()) return;
  causes.push_back(
      *std::ranges::min_element(creep, {}, [](const auto& each) { return each.fit.cost(); }));
}

}  // namespace estimator
