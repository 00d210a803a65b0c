#include "service/result/calibration_message.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/model/encoder.hpp"
#include "proto/check.pb.h"
#include "service/messages/message_text.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/result_message.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

void add_history(const std::vector<estimator::IterationRecord>& history,
                 google::protobuf::RepeatedPtrField<v1::IterationResult>* out_list) {
  for (const estimator::IterationRecord& record : history) {
    v1::IterationResult* out = out_list->Add();
    out->set_iteration(record.iteration);
    out->set_cost(record.cost);
    out->set_gradient_norm(record.gradient_norm);
    out->set_step_norm(record.step_norm);
    out->set_damping(record.damping);
    out->set_rejected(record.rejected);
    for (const double value : record.parameters) out->add_values(value);
  }
}

/// Adds the noise of each joint, and then of each encoder between bodies, to a result message.
void add_noise(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto add = [&](const std::string& name, estimator::JointKind kind, double reading,
                       double acceleration) {
    v1::NoiseResult* out = result.add_noise();
    const bool slides = !joint_traits(kind).turns;
    out->set_joint(name);
    out->set_reading_rad(slides ? kNone : reading);
    if (slides) out->set_reading_m(reading);
    out->set_acceleration(acceleration);
  };
  if (calibration.angle_noise.size() == 0) return;
  std::vector<estimator::Encoder> sensors = estimator::used_encoders(calibration.mechanism);
  Eigen::Index sensor = 0;
  for (Eigen::Index j = 0; j < calibration.acceleration_noise.size(); ++j) {
    const estimator::Joint& joint = calibration.mechanism.joints[static_cast<std::size_t>(j)];
    const bool is_read = sensor < std::ssize(sensors) &&
                         sensors[static_cast<std::size_t>(sensor)].name == joint.name;
    add(joint.name, joint.kind, is_read ? calibration.angle_noise[sensor++] : kNone,
        calibration.acceleration_noise[j]);
  }
  for (; sensor < std::ssize(sensors); ++sensor) {
    const estimator::Encoder& own = sensors[static_cast<std::size_t>(sensor)];
    add(own.name, own.kind, calibration.angle_noise[sensor], kNone);
  }
}

void add_held_out(const std::vector<estimator::HeldOutSensor>& sensors,
                  v1::CalibrationResult& result) {
  for (const estimator::HeldOutSensor& sensor : sensors) {
    v1::HeldOutResult* out = result.add_held_out();
    const bool slides = !joint_traits(sensor.kind).turns;
    out->set_joint(sensor.name);
    const bool is_axis = !sensor.unit.empty();
    if (is_axis) out->set_rmse(sensor.rmse);
    out->set_unit(sensor.unit);
    out->set_rmse_rad(slides || is_axis ? std::numeric_limits<double>::quiet_NaN() : sensor.rmse);
    if (slides) out->set_rmse_m(sensor.rmse);
    out->set_deviation_ratio(sensor.precision_gain);
    out->set_improved_parameter(sensor.most_improved_parameter);
    out->set_mean(sensor.mean);
  }
}

void add_combinations(const std::vector<estimator::ParameterCombination>& combinations,
                      google::protobuf::RepeatedPtrField<v1::CombinationResult>* out_list) {
  for (const estimator::ParameterCombination& combination : combinations) {
    v1::CombinationResult* out = out_list->Add();
    out->set_description(combination.description);
    out->set_value(combination.value);
    out->set_standard_deviation(combination.standard_deviation);
    out->set_unit(combination.unit);
  }
}

/// Adds to a result message the verdict, the estimates from parts of the data with their
/// consistency, and the well-identified combinations of parameters.
void add_evidence(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  constexpr const char* kPredictions[] = {"open-loop", "short-term", "torque", "acceleration"};
  v1::VerdictResult* verdict = result.mutable_verdict();
  const estimator::RelativeError& error = calibration.verdict.error;
  verdict->set_kind(std::string(estimator::to_string(calibration.verdict.kind)));
  verdict->set_sentence(format_verdict(calibration.verdict));
  verdict->set_relative_error(error.share);
  verdict->set_horizon_s(error.horizon);
  verdict->set_prediction(kPredictions[static_cast<int>(error.kind)]);
  result.mutable_consistency()->set_statistic(calibration.agreement.statistic);
  result.mutable_consistency()->set_degrees_of_freedom(calibration.agreement.degrees_of_freedom);
  result.mutable_consistency()->set_p_value(calibration.agreement.p_value);
  for (const estimator::RecordingPartEstimate& part : calibration.parts) {
    v1::PartResult* out = result.add_parts();
    out->set_recording(part.recording);
    out->set_from_s(part.from);
    out->set_to_s(part.to);
    for (const double value : part.values) out->add_values(value);
    for (const double deviation : part.standard_deviations) {
      out->add_standard_deviations(deviation);
    }
  }
  add_combinations(calibration.combinations, result.mutable_combinations());
}

/// Adds principal inertias, base parameters and conflicts with priors to a result message.
void add_inertias(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  for (const estimator::PrincipalInertia& inertia : calibration.principal) {
    v1::PrincipalInertiaResult* out = result.add_principal_inertias();
    out->set_body(inertia.body);
    out->set_at_feasibility_boundary(inertia.at_feasibility_boundary);
    for (int i = 0; i < 3; ++i) {
      out->add_moments(inertia.moments[i]);
      out->add_standard_deviations(inertia.deviations[i]);
    }
    add_matrix_rows(inertia.axes.transpose(), out->mutable_axes());
  }
  add_combinations(calibration.base, result.mutable_base_parameters());
  for (const estimator::PriorConflict& conflict : calibration.conflicts) {
    v1::PriorConflictResult* out = result.add_prior_conflicts();
    out->set_parameter(conflict.parameter);
    out->set_prior_mean(conflict.mean);
    out->set_value_without(conflict.without);
    out->set_deviations(conflict.deviations);
    out->set_unit(conflict.unit);
  }
}

void add_contradictions(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  for (const estimator::ContradictedParameter& contradiction : calibration.contradictions) {
    v1::ContradictionResult* out = result.add_contradictions();
    out->set_parameter(contradiction.name);
    out->set_unit(contradiction.unit);
    out->set_kept(contradiction.kept);
    out->set_value(contradiction.value);
    out->set_standard_deviation(contradiction.standard_deviation);
    out->set_most_affected_parameter(contradiction.moved);
    out->set_shift(contradiction.shift);
  }
}

void add_fixed_value_effects(const estimator::Calibration& calibration,
                             v1::CalibrationResult& result) {
  for (const estimator::FixedValueEffect& effect : calibration.fixed_value_effects) {
    v1::FixedValueEffectResult* out = result.add_fixed_value_effects();
    out->set_parameter(effect.name);
    out->set_most_affected_parameter(effect.moved);
    out->set_change(effect.change);
    out->set_shift(effect.deviations);
    out->set_tolerance_percent(100.0 * effect.tolerance);
  }
}

void add_inertial(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  for (const estimator::InertialAxisError& error : calibration.inertial) {
    v1::InertialResult* out = result.add_inertial();
    out->set_name(error.name);
    out->set_unit(error.unit);
    out->set_rmse(error.rmse);
    out->set_noise(error.noise);
    out->set_readings(error.readings);
  }
}

void add_predictions(const estimator::Calibration& calibration, v1::CalibrationResult& result) {
  if (std::isfinite(calibration.simulation_horizon)) {
    result.set_simulation_horizon_s(calibration.simulation_horizon);
  }
  for (const estimator::TorquePrediction& each : calibration.torque_predictions) {
    v1::TorquePredictionResult* out = result.add_torque_predictions();
    out->set_joint(each.joint);
    out->set_unit(joint_units(each.kind).force);
    out->set_rmse(each.error);
    out->set_expected(each.expected);
    out->set_torque(each.torque);
  }
  for (const estimator::MotionPrediction& each : calibration.motion_predictions) {
    v1::MotionPredictionResult* out = result.add_motion_predictions();
    out->set_encoder(each.encoder);
    out->set_unit(joint_units(each.kind).coordinate);
    out->set_horizon_s(each.horizon);
    out->set_rmse(each.rmse);
    out->set_expected(each.expected);
  }
}

}  // namespace

std::string calibration_json(const estimator::Calibration& calibration,
                             const CalibrationMetadata& context, TrajectoryOutput trajectories) {
  v1::CalibrationResult result;
  add_parameter_results(calibration.parameters, calibration.mechanism, result.mutable_parameters());
  add_parameter_results(calibration.dependent, calibration.mechanism, result.mutable_dependent());
  add_simulation_errors(calibration.simulation, result.mutable_simulation());
  add_predictions(calibration, result);
  add_inertial(calibration, result);
  result.set_cost(calibration.cost);
  result.set_iterations(calibration.iterations);
  result.set_termination(std::string(estimator::to_string(calibration.termination)));
  result.set_converged(calibration.converged());
  add_null_directions(calibration.null_directions, result.mutable_null_directions());
  add_null_directions(calibration.initial_null_directions,
                      result.mutable_initial_null_directions());
  add_noise(calibration, result);
  add_held_out(calibration.held_out, result);
  add_evidence(calibration, result);
  add_inertias(calibration, result);
  add_contradictions(calibration, result);
  add_fixed_value_effects(calibration, result);
  add_matrix_rows(calibration.correlation, result.mutable_correlation());
  add_matrix_rows(calibration.covariance, result.mutable_covariance());
  add_history(calibration.history, result.mutable_history());
  result.set_refined(calibration.refined);
  if (calibration.refined) {
    result.set_refinement_iterations(calibration.refinement_iterations);
    result.set_refinement_termination(
        std::string(estimator::to_string(calibration.refinement_termination)));
    add_history(calibration.refinement_history, result.mutable_refinement_history());
  }
  result.set_observation_rmse_rad(calibration.observation_rmse);
  *result.mutable_options() = used_options(calibration, context.options);
  add_findings(calibration.findings, result.mutable_findings());
  for (const std::string& note : format_notes(calibration.notes)) result.add_notes(note);
  for (const estimator::Parameter& parameter : context.kept) {
    v1::ValueResult* out = result.add_fixed();
    out->set_name(parameter.name);
    out->set_value(parameter.value);
    out->set_unit(parameter.unit);
  }
  if (trajectories == TrajectoryOutput::kWritten) {
    add_trajectories(calibration, context.controls, result.mutable_trajectories());
  }
  return finish_result_json(result, context);
}

std::string findings_json(const std::vector<estimator::Finding>& findings,
                          const estimator::PredictedPrecision& excitation,
                          const CalibrationMetadata& context) {
  rigcal::v1::CheckResult result;
  const auto worst = std::ranges::max_element(findings, {}, &estimator::Finding::severity);
  result.set_worst(worst == findings.end() ? "none" : severity_name(worst->severity));
  add_findings(findings, result.mutable_findings());
  for (const estimator::PredictedParameterPrecision& parameter : excitation.parameters) {
    rigcal::v1::ExcitationResult* out = result.add_excitation();
    out->set_parameter(parameter.name);
    out->set_unit(parameter.unit);
    out->set_start(parameter.start);
    out->set_standard_deviation(parameter.deviation);
  }
  add_null_directions(excitation.null_directions, result.mutable_null_directions());
  if (!excitation.parameters.empty()) {
    result.mutable_clock()->set_standard_deviation(excitation.clock.deviation);
    for (const std::string& name : excitation.clock.absorbed_by) {
      result.mutable_clock()->add_absorbed_by(name);
    }
  }
  return finish_result_json(result, context);
}

}  // namespace service
