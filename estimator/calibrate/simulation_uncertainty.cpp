#include "estimator/calibrate/simulation_uncertainty.hpp"

#include <cmath>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/confidence_intervals.hpp"

namespace estimator {

std::vector<OpenLoopError> measure_simulation_errors(const ShootingProblem& problem) {
  std::vector<OpenLoopError> errors;
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    errors.push_back({problem.encoder(sensor).name,
                      std::sqrt(problem.squared_error(sensor) / problem.reading_count(sensor)),
                      problem.encoder(sensor).kind});
  }
  return errors;
}

Eigen::VectorXd compute_linear_half_widths(const ParameterInformation& information,
                                           const Eigen::VectorXd& variances,
                                           const QuantizationErrors& counting) {
  return compute_confidence_half_widths(information, variances, counting) +
         compute_interval_widths_at_bounds(information, variances);
}

QuantizationErrors account_for_correlation(const ShootingProblem& problem,
                                           const std::vector<Segment>& segments,
                                           ParameterInformation& information,
                                           Eigen::VectorXd& variances,
                                           std::vector<Message>& notes) {
  if (!information.valid) return {};
  std::vector<std::vector<Eigen::VectorXd>> errors = compute_reading_errors(problem, segments);
  const std::vector<QuantizedSensor> sensors = find_quantized_sensors(problem, segments, errors);
  inflate_variances_for_autocorrelation(problem.mechanism(), errors, variances, notes);
  if (sensors.empty()) return {};
  QuantizationErrors counting = compute_quantization_errors(problem, sensors, information.inverse);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    information.group_schur[static_cast<std::size_t>(sensors[i].sensor)] = counting.scatter[i];
    variances[sensors[i].sensor] = 1.0;
  }
  return counting;
}

}  // namespace estimator
