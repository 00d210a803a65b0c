#include "estimator/calibrate/linear_calibration.hpp"

#include <optional>
#include <stdexcept>

#include "estimator/assessment/identifiability/combinations.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/identifiability/inertia_results.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/assessment/model_test/predictions.hpp"
#include "estimator/fit/physical/inverse_dynamics_start.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

/// Fixes the free parameters that the regression does not estimate.
/// @return their names
std::vector<std::string> fix_other_parameters(const Mechanism& regressed, Mechanism& mechanism) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (mechanism.parameters[i].free && !regressed.parameters[i].free) {
      mechanism.parameters[i].free = false;
      names.push_back(mechanism.parameters[i].name);
    }
  }
  return names;
}

}  // namespace

Calibration calibrate_linear(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor) {
  Calibration result;
  result.kind = EstimateKind::kPhysical;
  result.mechanism = mechanism;
  if (monitor.on_stage) monitor.on_stage({EstimationStage::kRegression}, mechanism);
  ShootingInput input = prepare_shooting_data(mechanism, recordings, options);
  result.notes = input.notes;
  remove_distant_stops(input.states, result.mechanism);
  const auto regression = regress_inverse_dynamics(result.mechanism, input, options);
  if (!regression) {
    throw std::invalid_argument(
        "a linear regression needs an open chain, an encoder on every joint, and at least five "
        "integrals of 0.12 s per parameter; omit the option linear");
  }
  Message note(MessageCode::kLinearRegression);
  const std::vector<std::string> fixed = fix_other_parameters(regression->start, result.mechanism);
  if (!fixed.empty()) note.arguments.push_back({"parameters", fixed});
  result.notes.push_back(std::move(note));

  const EstimateTable table(result.mechanism);
  const Mechanism given = result.mechanism;
  copy_parameter_values(regression->problem->mechanism(), result.mechanism);
  add_offset_changes_to_states(given, result.mechanism, input);
  result.first_stage = EstimationStage::kRegression;
  result.termination =
      is_stop_requested(monitor) ? Termination::kCancelled : regression->summary.termination;
  result.iterations = regression->summary.iterations;
  result.history = regression->summary.history;
  result.cost = regression->summary.cost;
  result.angle_noise = input.noise.angle;
  result.acceleration_noise.setZero(mechanism.joint_count());

  Mechanism reached = regression->start;
  copy_parameter_values(result.mechanism, reached);
  const EquationErrorProblem problem(reached, *regression->motion);
  const ParameterInformation information = compute_information(problem);
  const Eigen::VectorXd variances = Eigen::VectorXd::Ones(problem.noise_group_count());
  const ParameterUncertainty uncertainty =
      compute_parameter_uncertainty(result.mechanism, table.free_parameters(),
                                    table.estimated_parameters(), information, variances);
  result.torque_predictions = predict_torques(result.mechanism, input, options);
  for (std::size_t j = 0; j < mechanism.joints.size(); ++j) {
    result.mechanism.joints[j].stops = mechanism.joints[j].stops;
  }
  table.fill(uncertainty, estimate_without_priors(result.mechanism, information, variances),
             result);
  result.combinations = find_precise_combinations(result.parameters, uncertainty);
  result.base = estimate_base_parameters(result.mechanism, table.free_parameters(), uncertainty);
  result.principal =
      compute_principal_inertias(result.mechanism, table.free_parameters(), uncertainty, {});
  return result;
}

}  // namespace estimator
