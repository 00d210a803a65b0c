#include "estimator/assess/reading_noise.hpp"

namespace estimator {

std::vector<std::vector<Eigen::VectorXd>> reading_errors(const ShootingProblem& problem,
                                                         const std::vector<Segment>& segments) {
  std::vector<std::vector<Eigen::VectorXd>> errors(
      static_cast<std::size_t>(problem.sensor_count()));
  for (int sensor = 0; sensor < problem.sensor_count(); ++sensor) {
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

std::vector<CountingSensor> take_counting_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors) {
  std::vector<CountingSensor> sensors;
  const Eigen::VectorXd scales = sensor_scales(problem.mechanism());
  for (int sensor = 0; sensor < problem.sensor_count(); ++sensor) {
    const double quantum = find_quantum(segments, sensor, scales[sensor]);
    if (!(quantum > 0.0)) continue;
    const double analog = analog_variance(segments, sensor, quantum);
    std::vector<Eigen::VectorXd>& own = errors[static_cast<std::size_t>(sensor)];
    if (!counting_explains(own, quantum, analog)) continue;
    sensors.push_back({sensor, quantum, analog});
    own.clear();
  }
  return sensors;
}

}  // namespace estimator
