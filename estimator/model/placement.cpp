#include "estimator/model/placement.hpp"

#include "estimator/math/so3.hpp"
#include "estimator/model/gravity.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

Eigen::Vector3d point_at(const Mechanism& mechanism, int first) {
  const auto at = static_cast<std::size_t>(first);
  return {mechanism.parameters[at].value, mechanism.parameters[at + 1].value,
          mechanism.parameters[at + 2].value};
}

/// One side of a joint: the body, and the joint's frame and point on it.
struct Side {
  int body;
  Eigen::Quaterniond frame;
  Eigen::Vector3d point;
};

/// Computes the pose of the body `to` from that of `from` and the motion between the joint's sides.
void place(const Side& from, const Side& to, const Eigen::Quaterniond& turn,
           const Eigen::Vector3d& slide, Configuration& q) {
  const Pose parent = from.body == Joint::kGround ? Pose{} : q[static_cast<std::size_t>(from.body)];
  Pose& child = q[static_cast<std::size_t>(to.body)];
  child.e = (parent.e * from.frame * turn * to.frame.conjugate()).normalized();
  child.r = parent.r + parent.e * (from.point + from.frame * slide) - child.e * to.point;
}

}  // namespace

Eigen::Vector3d joint_point(const Mechanism& mechanism, int joint, bool on_child) {
  return point_at(mechanism, mechanism.index_of_joint(joint, on_child ? JointQuantity::kPointBx
                                                                      : JointQuantity::kPointAx));
}

Eigen::Vector3d fixed_joint_point(const Mechanism& mechanism, int weld, bool on_child) {
  return point_at(mechanism,
                  mechanism.index_of_fixed_joint(
                      weld, on_child ? JointQuantity::kPointBx : JointQuantity::kPointAx));
}

Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  Configuration q(mechanism.bodies.size());
  for (const TreeEdge& edge : spanning_tree(mechanism)) {
    const auto at = static_cast<std::size_t>(edge.joint);
    const auto reach = [&](const auto& joint, const Eigen::Vector3d& point_a,
                           const Eigen::Vector3d& point_b, double turn, double slide) {
      const Side a{joint.body_a, Eigen::Quaterniond(joint.frame_a), point_a};
      const Side b{joint.body_b, Eigen::Quaterniond(joint.frame_b), point_b};
      const double sign = edge.forward ? 1.0 : -1.0;
      place(edge.forward ? a : b, edge.forward ? b : a, exp_so3({sign * turn, 0.0, 0.0}),
            {sign * slide, 0.0, 0.0}, q);
    };
    if (edge.weld) {
      reach(mechanism.fixed_joints[at], fixed_joint_point(mechanism, edge.joint, false),
            fixed_joint_point(mechanism, edge.joint, true), 0.0, 0.0);
    } else {
      const bool turns = mechanism.joints[at].traits().turns;
      const double moved = coordinates[edge.joint];
      reach(mechanism.joints[at], joint_point(mechanism, edge.joint, false),
            joint_point(mechanism, edge.joint, true), turns ? moved : 0.0, turns ? 0.0 : moved);
    }
  }
  return q;
}

bool orientations_agree(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  constexpr double kNear = 0.5;  // [rad], between equal and half a turn
  const Configuration q = place_bodies(mechanism, coordinates);
  const auto turn_of = [&](int body) {
    return body == Joint::kGround ? Eigen::Quaterniond::Identity()
                                  : q[static_cast<std::size_t>(body)].e;
  };
  const auto agrees = [&](const auto& joint, double turn) {
    const Eigen::Quaterniond expected =
        turn_of(joint.body_a) * Eigen::Quaterniond(joint.frame_a) * exp_so3({turn, 0.0, 0.0});
    return expected.angularDistance(turn_of(joint.body_b) * Eigen::Quaterniond(joint.frame_b)) <
           kNear;
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (!agrees(joint, joint.traits().turns ? coordinates[j] : 0.0)) return false;
  }
  for (const FixedJoint& weld : mechanism.fixed_joints) {
    if (!agrees(weld, 0.0)) return false;
  }
  return true;
}

Eigen::Vector3d gravity_of(const Mechanism& mechanism) {
  const auto value = [&](WorldQuantity quantity) { return mechanism.parameter(quantity).value; };
  return gravity_vector(value(WorldQuantity::kGravity), value(WorldQuantity::kTiltX),
                        value(WorldQuantity::kTiltZ));
}

}  // namespace estimator
