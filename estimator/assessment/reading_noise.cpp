#include "estimator/assessment/reading_noise.hpp"

namespace estimator {

std::vector<std::vector<Eigen::VectorXd>> reading_errors(const ShootingProblem& problem,
                                                         const std::vector<Segment>& segments) {
  std::vector<std::vector<Eigen::VectorXd>> errors(
      static_cast<std::size_t>(problem.encoder_count()));
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    for (std::size_t s = 0; s < segments.size(); ++s) {
      Eigen::VectorXd series = problem.angles(static_cast<int>(s)).col(sensor);
      for (Eigen::Index k = 0; k < series.size(); ++k) {
        series[k] = problem.sensor(sensor).difference(series[k] - segments[s].angles(k, sensor));
      }
      errors[static_cast<std::size_t>(sensor)].push_back(std::move(series));
    }
  }
  return errors;
}

std::vector<QuantizedSensor> find_quantized_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors) {
  std::vector<QuantizedSensor> sensors;
  const Eigen::VectorXd scales = encoder_scales(problem.mechanism());
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    const double quantum = find_quantum(segments, sensor, scales[sensor]);
    if (!(quantum > 0.0)) continue;
    const double pre_quantization_variance = pre_quantization_noise(segments, sensor, quantum);
    std::vector<Eigen::VectorXd>& own = errors[static_cast<std::size_t>(sensor)];
    if (!is_quantization_error(own, quantum, pre_quantization_variance)) continue;
    sensors.push_back({sensor, quantum, pre_quantization_variance});
    own.clear();
  }
  return sensors;
}

}  // namespace estimator
