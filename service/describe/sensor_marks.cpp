#include "service/describe/sensor_marks.hpp"

#include "estimator/math/so3.hpp"
#include "service/describe/view.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector3d;
using estimator::InertialQuantity;
using estimator::InertialSensor;
using estimator::SensorTraits;

const InertialSensor& sensor_at(const estimator::Mechanism& mechanism, int sensor) {
  return mechanism.inertial_sensors[static_cast<std::size_t>(sensor)];
}

/// Returns three consecutive parameters of a sensor.
Vector3d triple_of(const estimator::Mechanism& mechanism, int sensor, InertialQuantity first) {
  const int index = mechanism.index_of_inertial(sensor, first);
  return {parameter_at(mechanism, index).value, parameter_at(mechanism, index + 1).value,
          parameter_at(mechanism, index + 2).value};
}

std::string reads_text(const estimator::Mechanism& mechanism, const InertialSensor& sensor) {
  std::string text = sensor.traits().reads;
  const auto name = [&](const std::string& key, const std::string& own) {
    if (const auto at = text.find(key); at != std::string::npos) text.replace(at, key.size(), own);
  };
  name("{body}",
       sensor.body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(sensor.body)].name);
  if (sensor.hinge >= 0) {
    name("{joint}", mechanism.hinges[static_cast<std::size_t>(sensor.hinge)].name);
  }
  return text;
}

}  // namespace

SensorMark mark_of(const estimator::Mechanism& mechanism, int sensor,
                   const estimator::Configuration& poses) {
  const InertialSensor& own = sensor_at(mechanism, sensor);
  const Vector3d mount = triple_of(mechanism, sensor, InertialQuantity::kMountX);
  const Vector3d point = triple_of(mechanism, sensor, InertialQuantity::kPointX);
  const Vector3d from =
      own.hinge >= 0 ? estimator::point_of_hinge(mechanism, own.hinge, true) : Vector3d::Zero();
  SensorMark mark{from + point, own.frame, mount};
  if (own.has_axes()) mark.axes = own.frame * estimator::exp_so3(mount).toRotationMatrix();
  if (own.body < 0) return mark;
  const estimator::Pose& pose = poses[static_cast<std::size_t>(own.body)];
  mark.at = pose.r + pose.e * mark.at;
  // A camera's axes are fixed to the ground, although it observes the body.
  if (own.traits().of != SensorTraits::Of::kGround) mark.axes = pose.e * mark.axes;
  return mark;
}

std::vector<std::string> sensor_words(const estimator::Mechanism& mechanism,
                                      const estimator::Configuration& poses) {
  std::vector<std::string> words;
  for (int k = 0; k < mechanism.inertial_count(); ++k) {
    const InertialSensor& sensor = sensor_at(mechanism, k);
    const SensorMark mark = mark_of(mechanism, k, poses);
    std::string text = sensor.name + ": " + reads_text(mechanism, sensor);
    if (sensor.traits().mount == SensorTraits::Mount::kAnchor) {
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
