#include "service/describe/sensor_marks.hpp"

#include "estimator/math/so3.hpp"
#include "service/describe/view.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector3d;
using estimator::InertialQuantity;
using estimator::InertialSensor;

const InertialSensor& sensor_at(const estimator::Mechanism& mechanism, int sensor) {
  return mechanism.inertial_sensors[static_cast<std::size_t>(sensor)];
}

/// Three parameters of a sensor from `first` on.
Vector3d triple_of(const estimator::Mechanism& mechanism, int sensor, InertialQuantity first) {
  const int index = mechanism.index_of_inertial(sensor, first);
  return {parameter_at(mechanism, index).value, parameter_at(mechanism, index + 1).value,
          parameter_at(mechanism, index + 2).value};
}

std::string reads_text(const estimator::Mechanism& mechanism, const InertialSensor& sensor) {
  using Kind = InertialSensor::Kind;
  const std::string body =
      sensor.body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(sensor.body)].name;
  const std::string joint =
      sensor.is_load() ? mechanism.hinges[static_cast<std::size_t>(sensor.hinge)].name : "";
  switch (sensor.kind) {
    case Kind::kInertial:
      return "gyroscope and accelerometer on " + body;
    case Kind::kForceTorque:
      return "moment and force that " + joint + " passes on to " + body;
    case Kind::kJointTorque:
      return "torque of " + joint;
    case Kind::kMotorTorque:
      return "torque of the motor of " + joint;
    case Kind::kPosition:
      return "place of a point of " + body;
    case Kind::kDistance:
      return "distance of a point of " + body;
  }
  return "";
}

}  // namespace

SensorMark mark_of(const estimator::Mechanism& mechanism, int sensor,
                   const estimator::Configuration& poses) {
  const InertialSensor& own = sensor_at(mechanism, sensor);
  const bool is_distance = own.kind == InertialSensor::Kind::kDistance;
  const Vector3d mount = triple_of(mechanism, sensor, InertialQuantity::kMountX);
  const Vector3d point = triple_of(mechanism, sensor, InertialQuantity::kPointX);
  const Vector3d from =
      own.is_load() ? estimator::point_of_hinge(mechanism, own.hinge, true) : Vector3d::Zero();
  SensorMark mark{from + point, own.frame, mount};
  if (!is_distance) mark.axes = own.frame * estimator::exp_so3(mount).toRotationMatrix();
  if (own.body < 0) return mark;
  const estimator::Pose& pose = poses[static_cast<std::size_t>(own.body)];
  mark.at = pose.r + pose.e * mark.at;
  // A camera stands on the ground, whatever it looks at.
  if (own.kind != InertialSensor::Kind::kPosition) mark.axes = pose.e * mark.axes;
  return mark;
}

std::vector<std::string> sensor_words(const estimator::Mechanism& mechanism,
                                      const estimator::Configuration& poses) {
  std::vector<std::string> words;
  for (int k = 0; k < mechanism.inertial_count(); ++k) {
    const InertialSensor& sensor = sensor_at(mechanism, k);
    const SensorMark mark = mark_of(mechanism, k, poses);
    std::string text = sensor.name + ": " + reads_text(mechanism, sensor);
    if (sensor.kind == InertialSensor::Kind::kDistance) {
      text += " from (" + format_number(mark.anchor.x(), 4) + ", " +
              format_number(mark.anchor.y(), 4) + ", " + format_number(mark.anchor.z(), 4) +
              ") m of the ground";
    } else if (sensor.has_axes()) {
      text += "; x " + way_of(mark.axes.col(0)) + ", y " + way_of(mark.axes.col(1));
    }
    words.push_back(text);
  }
  return words;
}

}  // namespace service
