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

/// One side of a joint: a body, the joint's frame and its point there.
struct Side {
  int body;
  Eigen::Quaterniond frame;
  Eigen::Vector3d point;
};

/// Places the body of `to`, given the joint's motion from its frame on `from` to that on `to`.
void place(const Side& from, const Side& to, const Eigen::Quaterniond& turn,
           const Eigen::Vector3d& slide, Configuration& q) {
  const Pose parent = from.body == Hinge::kGround ? Pose{} : q[static_cast<std::size_t>(from.body)];
  Pose& child = q[static_cast<std::size_t>(to.body)];
  child.e = (parent.e * from.frame * turn * to.frame.conjugate()).normalized();
  child.r = parent.r + parent.e * (from.point + from.frame * slide) - child.e * to.point;
}

}  // namespace

Eigen::Vector3d point_of_hinge(const Mechanism& mechanism, int hinge, bool on_child) {
  return point_at(mechanism, mechanism.index_of_hinge(hinge, on_child ? HingeQuantity::kPointBx
                                                                      : HingeQuantity::kPointAx));
}

Eigen::Vector3d point_of_weld(const Mechanism& mechanism, int weld, bool on_child) {
  return point_at(mechanism, mechanism.index_of_weld(weld, on_child ? HingeQuantity::kPointBx
                                                                    : HingeQuantity::kPointAx));
}

Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  Configuration q(mechanism.bodies.size());
  for (const TreeEdge& edge : spanning_tree(mechanism)) {
    const auto at = static_cast<std::size_t>(edge.hinge);
    const auto reach = [&](const auto& joint, const Eigen::Vector3d& point_a,
                           const Eigen::Vector3d& point_b, double turn, double slide) {
      const Side a{joint.body_a, Eigen::Quaterniond(joint.frame_a), point_a};
      const Side b{joint.body_b, Eigen::Quaterniond(joint.frame_b), point_b};
      const double sign = edge.forward ? 1.0 : -1.0;
      place(edge.forward ? a : b, edge.forward ? b : a, exp_so3({sign * turn, 0.0, 0.0}),
            {sign * slide, 0.0, 0.0}, q);
    };
    if (edge.weld) {
      reach(mechanism.welds[at], point_of_weld(mechanism, edge.hinge, false),
            point_of_weld(mechanism, edge.hinge, true), 0.0, 0.0);
    } else {
      const bool turns = mechanism.hinges[at].traits().turns;
      const double moved = coordinates[edge.hinge];
      reach(mechanism.hinges[at], point_of_hinge(mechanism, edge.hinge, false),
            point_of_hinge(mechanism, edge.hinge, true), turns ? moved : 0.0, turns ? 0.0 : moved);
    }
  }
  return q;
}

bool turns_agree(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  constexpr double kNear = 0.5;  // [rad], between equal and half a turn
  const Configuration q = place_bodies(mechanism, coordinates);
  const auto turn_of = [&](int body) {
    return body == Hinge::kGround ? Eigen::Quaterniond::Identity()
                                  : q[static_cast<std::size_t>(body)].e;
  };
  const auto agrees = [&](const auto& joint, double turn) {
    const Eigen::Quaterniond expected =
        turn_of(joint.body_a) * Eigen::Quaterniond(joint.frame_a) * exp_so3({turn, 0.0, 0.0});
    return expected.angularDistance(turn_of(joint.body_b) * Eigen::Quaterniond(joint.frame_b)) <
           kNear;
  };
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    if (!agrees(hinge, hinge.traits().turns ? coordinates[j] : 0.0)) return false;
  }
  for (const Weld& weld : mechanism.welds) {
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
