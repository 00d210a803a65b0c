#include "service/rig/drawing/sensor_placements.hpp"

#include "estimator/math/so3.hpp"
#include "service/rig/drawing/view.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector3d;
using estimator::Sensor;
using estimator::SensorQuantity;
using estimator::SensorTraits;

const Sensor& sensor_at(const estimator::Mechanism& mechanism, int sensor) {
  return mechanism.sensors[static_cast<std::size_t>(sensor)];
}

/// Returns the values of three consecutive parameters of a sensor, `first` and the next two.
Vector3d triple_of(const estimator::Mechanism& mechanism, int sensor, SensorQuantity first) {
  const int index = mechanism.index_of_sensor(sensor, first);
  return {parameter_at(mechanism, index).value, parameter_at(mechanism, index + 1).value,
          parameter_at(mechanism, index + 2).value};
}

/// Returns the quantity that a sensor measures.
std::string reads_text(const estimator::Mechanism& mechanism, const Sensor& sensor) {
  const std::string body =
      sensor.body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(sensor.body)].name;
  const std::string joint =
      sensor.joint < 0 ? "" : mechanism.joints[static_cast<std::size_t>(sensor.joint)].name;
  switch (sensor.kind) {
    case Sensor::Kind::kInertial:
      return "gyroscope and accelerometer on " + body;
    case Sensor::Kind::kForceTorque:
      return "moment and force that " + joint + " exerts on " + body;
    case Sensor::Kind::kPosition:
      return "position of a point of " + body;
    case Sensor::Kind::kJointTorque:
      return "torque of " + joint;
    case Sensor::Kind::kMotorTorque:
      return "torque of the motor of " + joint;
    case Sensor::Kind::kDistance:
      break;
  }
  return "distance of a point of " + body;
}

}  // namespace

SensorPlacement sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                 const estimator::Configuration& poses) {
  const Sensor& own = sensor_at(mechanism, sensor);
  const Vector3d mount = triple_of(mechanism, sensor, SensorQuantity::kMountX);
  const Vector3d point = triple_of(mechanism, sensor, SensorQuantity::kPointX);
  const Vector3d from =
      own.joint >= 0 ? estimator::joint_point(mechanism, own.joint, true) : Vector3d::Zero();
  SensorPlacement mark{from + point, own.frame, mount};
  if (own.has_axes()) mark.axes = own.frame * estimator::exp_so3(mount).toRotationMatrix();
  if (own.body < 0) return mark;
  const estimator::Pose& pose = poses[static_cast<std::size_t>(own.body)];
  mark.at = pose.r + pose.e * mark.at;
  // A camera's axes are fixed to the ground, although it observes the body.
  if (own.traits().of != SensorTraits::Of::kGround) mark.axes = pose.e * mark.axes;
  return mark;
}

std::vector<std::string> describe_sensors(const estimator::Mechanism& mechanism,
                                          const estimator::Configuration& poses) {
  std::vector<std::string> words;
  for (int k = 0; k < mechanism.sensor_count(); ++k) {
    const Sensor& sensor = sensor_at(mechanism, k);
    const SensorPlacement mark = sensor_placement(mechanism, k, poses);
    std::string text = sensor.name + ": " + reads_text(mechanism, sensor);
    if (sensor.traits().mount == SensorTraits::Mount::kAnchor) {
      text += " from (" + format_number(mark.anchor.x(), 4) + ", " +
              format_number(mark.anchor.y(), 4) + ", " + format_number(mark.anchor.z(), 4) +
              ") m of the ground";
    } else if (sensor.has_axes()) {
      text += "; x " + direction_on_page(mark.axes.col(0)) + ", y " +
              direction_on_page(mark.axes.col(1));
    }
    words.push_back(text);
  }
  return words;
}

}  // namespace service
