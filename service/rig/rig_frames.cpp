#include "service/rig/rig_frames.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "service/rig/parameters/message_fields.hpp"
#include "service/text/comma_list.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

constexpr double kParallel = 1e-6;  // sine of the angle below which directions count as parallel

Eigen::Vector3d vector_of(const v1::Direction& direction) {
  return {direction.x(), direction.y(), direction.z()};
}

/// Makes a frame with x along `along` and y toward `toward`; false if these are parallel.
bool make_frame(const Eigen::Vector3d& along, const Eigen::Vector3d& toward,
                Eigen::Matrix3d& frame) {
  const Eigen::Vector3d x = along.normalized();
  const Eigen::Vector3d across = toward.normalized() - x * x.dot(toward.normalized());
  if (across.norm() < kParallel) return false;
  frame.col(0) = x;
  frame.col(1) = across.normalized();
  frame.col(2) = x.cross(frame.col(1));
  return true;
}

}  // namespace

int find_body(const estimator::Mechanism& mechanism, const std::string& body, const char* field,
              const proto::TextLocator& place, bool ground_allowed) {
  if (body == "ground") {
    if (ground_allowed) return estimator::Joint::kGround;
    place.at(field).fail("the child must not be the ground. Swap parent and child");
  }
  const auto found = std::ranges::find(mechanism.bodies, body, &estimator::Body::name);
  if (found != mechanism.bodies.end()) return static_cast<int>(found - mechanism.bodies.begin());
  const std::string choices =
      (ground_allowed ? "ground, " : "") + comma_list(mechanism.bodies, &estimator::Body::name);
  if (body.empty()) {
    place.fail(std::string("names no body; write ") + field + ": with one of " + choices);
  }
  place.at(field).fail("no body is called \"" + body + "\"; use one of " + choices);
}

Eigen::Matrix3d read_joint_frame(const v1::JointSide& side, const proto::TextLocator& place) {
  const Eigen::Vector3d axis = vector_of(side.axis());
  const Eigen::Vector3d mark = vector_of(side.zero_direction());
  if (!(axis.norm() > 0.0)) {
    place.at("axis").fail("needs a joint axis; write axis { x: ... y: ... z: ... }");
  }
  if (!(mark.norm() > 0.0)) {
    place.at("zero_direction").fail("needs a zero mark; write zero_direction { x: ... }");
  }
  Eigen::Matrix3d frame;
  if (!make_frame(axis, mark, frame)) {
    place.at("zero_direction")
        .fail(
            "the zero direction is parallel to the axis. Give a direction perpendicular to the "
            "axis");
  }
  return frame;
}

Eigen::Matrix3d read_sensor_frame(const google::protobuf::Message& sensor,
                                  const proto::TextLocator& place) {
  const auto direction = [&](const char* field, const Eigen::Vector3d& otherwise) {
    if (!has_field(sensor, field)) return otherwise;
    const Eigen::Vector3d vector =
        vector_of(static_cast<const v1::Direction&>(message_in(sensor, field)));
    if (!(vector.norm() > 0.0)) {
      place.at(field).fail(std::string("has no length; write ") + field +
                           " { x: ... y: ... z: ... }");
    }
    return vector;
  };
  const Eigen::Vector3d x = direction("x_axis", Eigen::Vector3d::UnitX());
  const Eigen::Vector3d y = direction("y_axis", Eigen::Vector3d::UnitY());
  Eigen::Matrix3d frame;
  if (!make_frame(x, y, frame)) {
    place.fail("sensor \"" + text_in(sensor, "name") +
               "\": x_axis and y_axis are parallel. Give two different directions");
  }
  return frame;
}

}  // namespace service
