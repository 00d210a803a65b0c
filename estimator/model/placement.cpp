#include "estimator/model/placement.hpp"

#include <algorithm>

namespace estimator {
namespace {

Eigen::Vector3d point_at(const Mechanism& mechanism, int first) {
  return {mechanism.parameters[first].value, mechanism.parameters[first + 1].value,
          mechanism.parameters[first + 2].value};
}

constexpr double kParallelAxes = 1e-9;  // sine of the angle between coinciding axes

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
    double turn = 0.0, slide = 0.0;
    if (!edge.weld) {
      const bool turns = mechanism.joints[edge.joint].kind_traits().turns;
      (turns ? turn : slide) = (edge.forward ? 1.0 : -1.0) * coordinates[edge.joint];
    }
    const Pose parent = from.body == Joint::kGround ? Pose{} : q[from.body];
    const Eigen::Quaterniond from_frame(from.frame), to_frame(to.frame);
    Pose& child = q[to.body];
    child.e =
        (parent.e * from_frame * exp_so3({turn, 0.0, 0.0}) * to_frame.conjugate()).normalized();
    child.r = parent.r +
              parent.e * (point_at(mechanism, from.point) +
                          from_frame * Eigen::Vector3d(slide, 0.0, 0.0)) -
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
    const bool turns = !edge.weld && mechanism.joints[edge.joint].kind_traits().turns;
    const double turn = turns ? coordinates[edge.joint] : 0.0;
    const Eigen::Quaterniond expected = turn_of(edge.parent) * exp_so3({turn, 0.0, 0.0});
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
    if (!joint.kind_traits().turns) continue;
    const Eigen::Vector3d own = poses[joint.body_b].e * joint.frame_b.col(0);
    if (axis.isZero()) axis = own;
    if (!(axis.cross(own).norm() < kParallelAxes)) return std::nullopt;
  }
  return Eigen::Vector3d(poses[body].e.conjugate() * axis);
}

}  // namespace estimator
