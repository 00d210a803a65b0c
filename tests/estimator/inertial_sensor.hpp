#pragma once

#include <string>
#include <utility>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Adds a sensor to a mechanism that has its parameters and no such sensor.
///
/// @param values  values of the sensor's parameters, by quantity; the others stay neutral
inline void add_sensor(estimator::Mechanism& mechanism, const estimator::Sensor& added,
                       const std::vector<std::pair<estimator::SensorParameter, double>>& values) {
  estimator::Mechanism whole = mechanism;
  whole.sensors.push_back(added);
  estimator::make_parameters(whole);
  const int begin = mechanism.sensor_parameter_index(mechanism.sensor_count(), {});
  const int sensor = whole.sensor_count() - 1;
  const int first = whole.sensor_parameter_index(sensor, {});
  mechanism.parameters.insert(
      mechanism.parameters.begin() + begin, whole.parameters.begin() + first,
      whole.parameters.begin() + first + estimator::Mechanism::kSensorParameters);
  mechanism.sensors = whole.sensors;
  for (const auto& [quantity, value] : values) {
    mechanism.sensor_parameter(sensor, quantity).value = value;
  }
}

/// Adds an inertial sensor on a body, as add_sensor does.
inline void add_inertial_sensor(
    estimator::Mechanism& mechanism, const std::string& name, int body,
    const std::vector<std::pair<estimator::SensorParameter, double>>& values) {
  add_sensor(mechanism, {.name = name, .body = body}, values);
}

}  // namespace test_support
