#include "estimator/calibrate/held_out_sensors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/fit/physical/shooting/sensor_sample_instants.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr double kLeastNarrowing = 1.05;  // smaller ratios are no gain: they round to 1.0

/// Returns a segment with the columns of all sensors in one matrix, in order.
Segment with_all_columns(const Mechanism& mechanism, Segment segment) {
  const std::vector<Encoder> sensors = all_encoders(mechanism);
  Eigen::MatrixXd all(segment.angles.rows(), static_cast<Eigen::Index>(sensors.size()));
  Eigen::Index used = 0, held_out = 0;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    all.col(static_cast<Eigen::Index>(i)) = is_held_out(mechanism, sensors[i].name)
                                                ? segment.held_out.col(held_out++)
                                                : segment.angles.col(used++);
  }
  segment.angles = std::move(all);
  segment.held_out.resize(0, 0);
  return segment;
}

/// Returns the axes of held-out inertial sensors that have readings.
std::vector<int> withheld_axes(const Mechanism& mechanism, const std::vector<Segment>& segments) {
  Mechanism all = mechanism;
  all.held_out.clear();
  std::vector<int> axes = find_read_sensor_axes(all, segments);
  std::erase_if(axes, [&](int axis) {
    const auto sensor = static_cast<std::size_t>(axis / Sensor::kAxes);
    return !is_held_out(mechanism, mechanism.sensors[sensor].name);
  });
  return axes;
}

/// Returns the fitted problem with the readings of all sensors. The noise of held-out sensors is
/// estimated from differences of readings.
ShootingProblem problem_with_all(const ShootingProblem& fitted,
                                 const std::vector<Segment>& segments, const ShootingGrid& grid) {
  Mechanism mechanism = fitted.mechanism();
  const std::vector<Encoder> sensors = all_encoders(mechanism);
  ShootingNoise noise = fitted.noise();
  noise.angle.resize(static_cast<Eigen::Index>(sensors.size()));
  Eigen::Index used = 0;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    if (!is_held_out(mechanism, sensors[i].name)) {
      noise.angle[column] = fitted.noise().angle[used++];
      continue;
    }
    noise.angle[column] = std::max(kAngleNoiseFloor * sensors[i].units().scale,
                                   estimate_noise_level(segments, column));
  }
  for (const int axis : withheld_axes(mechanism, segments)) {
    for (const Segment& segment : segments) {
      if (axis >= segment.inertial.cols()) continue;
      noise.inertial[axis] =
          std::max(noise.inertial[axis], estimate_noise_level(segment.inertial.col(axis)));
    }
  }
  mechanism.held_out.clear();
  return fitted.copy_with_changes(mechanism, segments, grid, noise);
}

Eigen::VectorXd deviations(const ShootingProblem& problem, const EstimateTable& book) {
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(problem.noise_group_count());
  return compute_parameter_uncertainty(problem.mechanism(), book.free_parameters(),
                                       book.estimated_parameters(), information, unit)
      .standard_deviation;
}

/// Returns whether a sensor has free parameters of its own.
bool has_free(const EstimateTable& book, const Mechanism& mechanism, const std::string& sensor) {
  return std::ranges::any_of(book.free_parameters(), [&](int index) {
    return is_sensor_parameter(mechanism, index) &&
           mechanism.at(index).name.starts_with(sensor + ".");
  });
}

/// Returns the prediction errors of an encoder's readings.
std::vector<double> errors_of(const ShootingProblem& all, const std::vector<Segment>& segments,
                              int sensor) {
  std::vector<double> errors;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const auto predicted = all.predicted_angles(static_cast<int>(s)).col(sensor);
    for (Eigen::Index k = 0; k < predicted.size(); ++k) {
      if (!all.has_reading(static_cast<int>(s), k, sensor)) continue;
      errors.push_back(
          all.encoder(sensor).reading_difference(predicted[k] - segments[s].angles(k, sensor)));
    }
  }
  return errors;
}

/// Returns a clause about the gain in precision by using a held-out sensor.
Message gain_of(const HeldOutSensor& sensor) {
  if (sensor.most_improved_parameter.empty()) return MessageCode::kNoGain;
  const Argument parameter{"parameter", sensor.most_improved_parameter};
  if (std::isinf(sensor.precision_gain)) return {MessageCode::kGainedParameter, {parameter}};
  return {MessageCode::kGain, {parameter, {"ratio", sensor.precision_gain}}};
}

}  // namespace

std::vector<Recording> split_held_out_sensors(const Mechanism& mechanism,
                                              std::vector<Recording> recordings) {
  if (mechanism.held_out.empty()) return recordings;
  const std::vector<Encoder> sensors = all_encoders(mechanism);
  std::vector<Eigen::Index> used, held_out;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    (is_held_out(mechanism, sensors[i].name) ? held_out : used)
        .push_back(static_cast<Eigen::Index>(i));
  }
  for (Recording& recording : recordings) {
    for (Segment& segment : recording.segments) {
      if (segment.held_out.cols() > 0) continue;
      if (segment.angles.cols() != std::ssize(sensors)) {
        throw std::invalid_argument(recording.name + ": needs " + std::to_string(sensors.size()) +
                                    " angle columns");
      }
      segment.held_out = segment.angles(Eigen::all, held_out).eval();
      segment.angles = segment.angles(Eigen::all, used).eval();
    }
  }
  return recordings;
}

std::vector<HeldOutSensor> assess_held_out_sensors(const ShootingProblem& fitted,
                                                   const ShootingInput& input,
                                                   const EstimateTable& book,
                                                   const ShootingGrid& grid) {
  std::vector<HeldOutSensor> judged;
  if (fitted.mechanism().held_out.empty()) return judged;
  std::vector<Segment> segments;
  for (const Segment& segment : input.segments) {
    segments.push_back(with_all_columns(fitted.mechanism(), segment));
  }
  const ShootingProblem all = problem_with_all(fitted, segments, grid);
  const Eigen::VectorXd without = deviations(fitted, book), with = deviations(all, book);
  double narrowing = kLeastNarrowing;
  std::string narrowed;
  for (Eigen::Index i = 0; i < with.size(); ++i) {
    const int requested = book.free_parameters()[static_cast<std::size_t>(i)];
    if (!(with[i] > 0.0) || !std::isfinite(with[i])) continue;
    if (is_held_out_sensor_parameter(fitted.mechanism(), requested)) continue;
    const double ratio = without[i] / with[i];
    if (!(ratio > narrowing)) continue;
    narrowing = ratio;
    narrowed = fitted.mechanism().at(requested).name;
  }
  if (narrowed.empty()) narrowing = 1.0;
  const auto assess = [&](HeldOutSensor sensor, const std::vector<double>& errors,
                          const std::string& device) {
    double squares = 0.0, sum = 0.0;
    for (const double error : errors) {
      squares += error * error;
      sum += error;
    }
    const auto count = static_cast<double>(errors.size());
    sensor.rmse = std::sqrt(squares / count);
    sensor.mean = sum / count;
    sensor.precision_gain = narrowing;
    sensor.most_improved_parameter = narrowed;
    sensor.at_start = has_free(book, all.mechanism(), device);
    judged.push_back(std::move(sensor));
  };
  for (int i = 0; i < all.encoder_count(); ++i) {
    const Encoder& own = all.encoder(i);
    if (!is_held_out(fitted.mechanism(), own.name)) continue;
    assess({.name = own.name, .kind = own.kind, .noise = all.noise().angle[i]},
           errors_of(all, segments, i), own.name);
  }
  for (const int axis : withheld_axes(fitted.mechanism(), segments)) {
    const auto place = std::ranges::find(all.inertial_axes(), axis) - all.inertial_axes().begin();
    const std::string name = sensor_axis_name(all.mechanism(), axis);
    assess({.name = name,
            .unit = sensor_axis_unit(all.mechanism(), axis),
            .noise = all.noise().inertial[axis]},
           all.inertial_prediction_errors(static_cast<int>(place)),
           name.substr(0, name.rfind('.')));
  }
  return judged;
}

Message describe_held_out_sensor(const HeldOutSensor& sensor) {
  const bool is_encoder = sensor.unit.empty();
  const auto quantity = [&](double value) {
    return is_encoder ? Quantity{1e3 * value, joint_units(sensor.kind).error}
                      : Quantity{value, sensor.unit};
  };
  Message note(MessageCode::kHeldOutSensor, {{"is_encoder", is_encoder},
                                             {"sensor", sensor.name},
                                             {"rmse", quantity(sensor.rmse)},
                                             {"noise", quantity(sensor.noise)},
                                             {"at_start", sensor.at_start},
                                             {"gain", std::vector<Message>{gain_of(sensor)}}});
  const double constant = sensor.mean * sensor.mean;
  const double scatter = std::sqrt(std::max(0.0, sensor.rmse * sensor.rmse - constant));
  if (constant > scatter * scatter) {
    note.arguments.push_back({"scatter", quantity(scatter)});
    note.arguments.push_back({"offset", quantity(sensor.mean)});
  }
  return note;
}

}  // namespace estimator
