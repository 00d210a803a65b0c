#include "estimator/model/placement.hpp"

#include <algorithm>

namespace estimator {
namespace {

Eigen::Vector3d point_at(const Mechanism& mechanism, int first) {
  return {mechanism.parameters[first].value, mechanism.parameters[first + 1].value,
          mechanism.parameters[first + 2].value};
}

constexpr double kParallelAxes = 1e-9;  // sine of the angle between coinciding axes

/// Returns the displacement of the child's joint frame from the parent's, in the parent's.
Pose joint_displacement(const Mechanism& mechanism, const DirectedJoint& edge,
                        const Eigen::VectorXd& coordinates) {
  Pose pose;
  if (edge.weld) return pose;
  const Joint& joint = mechanism.joints[edge.joint];
  if (joint.is_compound()) {
    const Eigen::Index turn = edge.joint + joint.coordinate_count() - 4;
    if (joint.type == Joint::Type::kFree) pose.r = coordinates.segment<3>(edge.joint);
    pose.e = Eigen::Quaterniond(coordinates[turn], coordinates[turn + 1], coordinates[turn + 2],
                                coordinates[turn + 3]);
    if (pose.e.squaredNorm() > 0.0) {
      pose.e.normalize();
    } else {
      pose.e.setIdentity();
    }
    return pose;
  }
  const double shift = (edge.forward ? 1.0 : -1.0) * coordinates[edge.joint];
  if (joint.kind_traits().turns) {
    pose.e = exp_so3({shift, 0.0, 0.0});
  } else {
    pose.r.x() = shift;
  }
  return pose;
}

}  // namespace

Eigen::Vector3d joint_point(const Mechanism& mechanism, int joint, bool on_child) {
  return point_at(mechanism,
                  mechanism.joint_parameter_index(
                      joint, on_child ? JointParameter::kPointBx : JointParameter::kPointAx));
}

Eigen::Vector3d fixed_joint_point(const Mechanism& mechanism, int weld, bool on_child) {
  return point_at(mechanism,
                  mechanism.fixed_joint_parameter_index(
                      weld, on_child ? JointParameter::kPointBx : JointParameter::kPointAx));
}

Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  Configuration q(mechanism.bodies.size());
  for (const DirectedJoint& edge : spanning_tree(mechanism)) {
    const JointSide &from = edge.parent, &to = edge.child;
    const Pose moved = joint_displacement(mechanism, edge, coordinates);
    const Pose parent = from.body == Joint::kGround ? Pose{} : q[from.body];
    const Eigen::Quaterniond from_frame(from.frame), to_frame(to.frame);
    Pose& child = q[to.body];
    child.e = (parent.e * from_frame * moved.e * to_frame.conjugate()).normalized();
    child.r = parent.r + parent.e * (point_at(mechanism, from.point) + from_frame * moved.r) -
              child.e * point_at(mechanism, to.point);
  }
  return q;
}

bool are_loop_orientations_consistent(const Mechanism& mechanism,
                                      const Eigen::VectorXd& coordinates) {
  constexpr double kNear = 0.5;  // [rad], between equal and half a turn
  const Configuration q = place_bodies(mechanism, coordinates);
  const auto turn_of = [&](const JointSide& side) {
    const Eigen::Quaterniond frame(side.frame);
    if (side.body == Joint::kGround) return Eigen::Quaterniond::Identity() * frame;
    return q[side.body].e * frame;
  };
  return std::ranges::all_of(all_directed_joints(mechanism), [&](const DirectedJoint& edge) {
    const Eigen::Quaterniond expected =
        turn_of(edge.parent) * joint_displacement(mechanism, edge, coordinates).e;
    return expected.angularDistance(turn_of(edge.child)) < kNear;
  });
}

Eigen::Vector3d gravity_vector(const Mechanism& mechanism) {
  const auto value = [&](GravityParameter quantity) { return mechanism.parameter(quantity).value; };
  return gravity_vector(value(GravityParameter::kGravity), value(GravityParameter::kTiltX),
                        value(GravityParameter::kTiltZ));
}

std::optional<Eigen::Vector3d> find_single_rotation_axis(const Mechanism& mechanism, int body) {
  std::vector<const DirectedJoint*> holder(mechanism.bodies.size(), nullptr);  // joint of each body
  const std::vector<DirectedJoint> tree = spanning_tree(mechanism);
  for (const DirectedJoint& edge : tree) holder[edge.child.body] = &edge;
  // Rotations about one direction leave that direction unchanged, so any configuration will do.
  const Configuration poses =
      place_bodies(mechanism, Eigen::VectorXd::Zero(mechanism.joint_count()));
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();
  for (int at = body; at != Joint::kGround;) {
    const DirectedJoint* const edge = holder[at];
    if (edge == nullptr) return std::nullopt;
    at = edge->parent.body;
    if (edge->weld) continue;
    const Joint& joint = mechanism.joints[edge->joint];
    if (joint.is_compound()) return std::nullopt;
    if (!joint.kind_traits().turns) continue;
    const Eigen::Vector3d own = poses[joint.body_b].e * joint.frame_b.col(0);
    if (axis.isZero()) axis = own;
    if (!(axis.cross(own).norm() < kParallelAxes)) return std::nullopt;
  }
  return Eigen::Vector3d(poses[body].e.conjugate() * axis);
}

}  // namespace estimator
