#include "estimator/fit/physical/inverse_dynamics_start.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <utility>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/fit/physical/control_noise_effect.hpp"
#include "estimator/fit/physical/equation_error.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr int kRowsMin = 5;      // integrals per parameter
constexpr int kRounds = 3;       // of weights
constexpr int kIterations = 200;  // most, per round
constexpr double kTolerance = 1e-6;
/// Uncertainty of given inertias in the first rounds, a factor of ten in either direction.
constexpr double kInertiaUncertainty = 10.0;
/// Smallest ratio of costs at which values by inverse dynamics replace the given values.
constexpr double kMuchBetter = 2.0;
/// Largest cost per reading at which they replace values that cannot be simulated. The model is
/// wrong above it, and the error message about the given values is more useful.
constexpr double kUsefulCost = 1e4;

bool is_observed(const Mechanism& mechanism) {
  return EncoderToJointMap(mechanism).observed_joint_count() == mechanism.joint_count();
}

/// Fixes sensor parameters other than encoder offsets.
void fix_other_sensor_parameters(Mechanism& mechanism) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (int index = 0; index < std::ssize(mechanism.parameters); ++index) {
    const bool is_offset = std::ranges::count(sensors, index, &Encoder::offset) > 0;
    if (!is_offset && !affects_motion(mechanism, index)) mechanism.at(index).free = false;
  }
}

/// Minimizes the equation error, with weights from its own scatter.
/// @return summary of the last solve
LmSummary minimize(EquationErrorProblem& problem, InertiaParameterization parameterization) {
  LmOptions options;
  options.max_iterations = kIterations;
  options.cost_tolerance = options.stagnant_gain = kTolerance;
  LmSummary summary;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) problem.update_weights();
    summary = solve_in_inertia_coordinates(problem, problem.mechanism(), parameterization, options,
                                           {}, nullptr);
  }
  return summary;
}

/// Gives free parameters without a prior a prior about their initial values. Its standard deviation
/// is the initial or the reached value, whichever is larger. It has hardly any effect on parameters
/// that the equation error determines.
void hold_near_start(const Mechanism& start, Mechanism& reached) {
  for (std::size_t i = 0; i < reached.parameters.size(); ++i) {
    Parameter& parameter = reached.parameters[i];
    const double initial = start.parameters[i].value;
    const double deviation = std::max(std::abs(initial), std::abs(parameter.value));
    if (!parameter.free || deviation == 0.0) continue;
    if (std::isfinite(parameter.prior_standard_deviation)) continue;
    parameter.prior_mean = initial;
    parameter.prior_standard_deviation = deviation;
  }
}

/// Adds a prior of the inertia of each body whose moments about all axes are estimated, with the
/// given values as CAD values (InertiaPrior), unless the rig file has one. Without it, the equation
/// error tends to the boundary of physically consistent inertias, from where a fit may not return.
/// @return the bodies
std::vector<int> hold_inertias_near_start(Mechanism& mechanism) {
  std::vector<int> bodies;
  move_off_feasibility_boundary(mechanism);
  for (int body = 0; body < mechanism.body_count(); ++body) {
    Body& own = mechanism.bodies[body];
    if (!has_inertia_parameterization(mechanism, body) || std::isfinite(own.cad_uncertainty)) {
      continue;
    }
    if (!(mechanism.parameter(body, BodyParameter::kMass).value > 0.0)) continue;
    if (!is_physically_consistent(inertia_matrix(moments_of_inertia(mechanism, body)))) continue;
    const InertiaPrior prior(mechanism, body);
    for (const int index : prior.parameters()) {
      if (index < 0) continue;
      Parameter& parameter = mechanism.at(index);
      if (std::isinf(parameter.prior_standard_deviation)) parameter.prior_mean = parameter.value;
    }
    own.cad_uncertainty = kInertiaUncertainty;
    bodies.push_back(body);
  }
  return bodies;
}

/// Returns the uncertainty of the CAD values with which the prior of a body's inertia costs about
/// as much as one of a parameter that deviates by its standard deviation, at least 1.
double measure_inertia_deviation(Mechanism mechanism, int body) {
  mechanism.bodies[body].cad_uncertainty = 1.0;
  const auto residual = InertiaPrior(mechanism, body).residual(mechanism);
  return residual ? std::max(1.0, residual->norm()) : kInertiaUncertainty;
}

/// A fit that starts from given parameter values, and the cost per reading of its second stage.
struct BegunFit {
  std::unique_ptr<ShootingFit> fit;
  double cost = 0.0;

  double interval() const { return fit->input().grid.interval; }
  /// Returns whether the values predict the recordings much better than those of another fit. A
  /// fit with longer node intervals does, since the other one cannot be simulated over them. Noise
  /// of the controls limits the intervals too.
  bool is_much_better_than(const BegunFit& other) const {
    if (interval() != other.interval() && fit->input().noise.control.size() == 0) {
      return interval() > other.interval();
    }
    return kMuchBetter * cost < other.cost;
  }
};

}  // namespace

void add_offset_changes_to_states(const Mechanism& from, const Mechanism& to,
                                  ShootingInput& input) {
  const std::vector<Encoder> sensors = used_encoders(from);
  Eigen::VectorXd change(std::ssize(sensors));
  for (Eigen::Index i = 0; i < change.size(); ++i) {
    const int offset = sensors[static_cast<std::size_t>(i)].offset;
    change[i] = to.at(offset).value - from.at(offset).value;
  }
  const Eigen::VectorXd shift = EncoderToJointMap(from).joint_coordinates(change);
  for (Eigen::MatrixXd& states : input.states) {
    states.topRows(shift.size()).colwise() += shift;
  }
}

std::optional<InverseDynamicsRegression> regress_inverse_dynamics(
    const Mechanism& mechanism, const ShootingInput& input, const CalibrationOptions& options) {
  if (!is_tree_mechanism(mechanism) || !is_observed(mechanism)) return std::nullopt;
  InverseDynamicsRegression regression;
  Mechanism& start = regression.start;
  start = with_set_valued_friction(mechanism);
  fix_other_sensor_parameters(start);
  Mechanism held = start;
  regression.held = hold_inertias_near_start(held);
  const FreeParameters free(held);
  if (free.size() == 0) return std::nullopt;
  regression.motion =
      std::make_unique<ModulatedMotion>(place_test_functions(held, input, options.filter_cutoff));
  regression.problem = std::make_unique<EquationErrorProblem>(held, *regression.motion);
  if (regression.problem->integral_count() < kRowsMin * free.size()) return std::nullopt;
  regression.summary = minimize(*regression.problem, options.inertia_parameterization);
  return regression;
}

std::optional<Mechanism> estimate_by_inverse_dynamics(const Mechanism& mechanism,
                                                      const ShootingInput& input,
                                                      const CalibrationOptions& options) {
  const auto regression = regress_inverse_dynamics(mechanism, input, options);
  if (!regression) return std::nullopt;
  Mechanism reached = regression->problem->mechanism();
  hold_near_start(regression->start, reached);
  for (const int body : regression->held) {
    reached.bodies[body].cad_uncertainty = measure_inertia_deviation(reached, body);
  }
  EquationErrorProblem held(reached, *regression->motion);
  minimize(held, options.inertia_parameterization);
  Mechanism result = mechanism;
  copy_parameter_values(held.mechanism(), result);
  return result;
}

std::unique_ptr<ShootingFit> begin_shooting_fit(const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const CalibrationMonitor& monitor, FitStages stages,
                                                Mechanism& start) {
  ShootingInput input = prepare_shooting_data(start, recordings, options);
  remove_distant_stops(input.states, start);
  input.grid.interval =
      choose_node_interval(start, input.segments, default_node_interval(input.segments));
  const auto begin_at = [&](const Mechanism& values) {
    ShootingInput own = input;
    add_offset_changes_to_states(start, values, own);
    account_for_control_noise(values, own);
    choose_integration_steps(values, options, own);
    BegunFit begun{std::make_unique<ShootingFit>(std::move(own), options, monitor, stages)};
    begun.cost = begun.fit->shorten_node_intervals(values);
    return begun;
  };
  BegunFit given;
  std::exception_ptr error;
  try {
    given = begin_at(start);
    if (given.cost <= kDivergedErrorRatio) return std::move(given.fit);
  } catch (const std::invalid_argument&) {
    error = std::current_exception();
  }
  try {
    if (const auto linear = estimate_by_inverse_dynamics(start, input, options)) {
      BegunFit other = begin_at(*linear);
      if (error ? other.cost < kUsefulCost : other.is_much_better_than(given)) {
        other.fit->set_restart_values(start);
        start = *linear;
        return std::move(other.fit);
      }
    }
  } catch (const std::invalid_argument&) {  // keep the given values
  }
  if (error) std::rethrow_exception(error);
  return std::move(given.fit);
}

}  // namespace estimator
