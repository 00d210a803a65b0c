#include "estimator/model/only_rotation_axis.hpp"

#include <Eigen/Geometry>
#include <vector>

#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr double kParallelAxes = 1e-9;  // sine of the angle between coinciding axes

}  // namespace

std::optional<Eigen::Vector3d> only_rotation_axis(const Mechanism& mechanism, int body) {
  // The joint by which the spanning tree reaches each body.
  std::vector<const TreeEdge*> holder(mechanism.bodies.size(), nullptr);
  const std::vector<TreeEdge> tree = spanning_tree(mechanism);
  const auto child_of = [&](const TreeEdge& edge) {
    const auto at = static_cast<std::size_t>(edge.joint);
    const int a = edge.weld ? mechanism.fixed_joints[at].body_a : mechanism.joints[at].body_a;
    const int b = edge.weld ? mechanism.fixed_joints[at].body_b : mechanism.joints[at].body_b;
    return std::pair{edge.forward ? b : a, edge.forward ? a : b};
  };
  for (const TreeEdge& edge : tree) holder[static_cast<std::size_t>(child_of(edge).first)] = &edge;
  // Rotations about one direction leave that direction unchanged, so any configuration will do.
  const Configuration poses =
      place_bodies(mechanism, Eigen::VectorXd::Zero(mechanism.joint_count()));
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();
  for (int at = body; at != Joint::kGround;) {
    const TreeEdge* const edge = holder[static_cast<std::size_t>(at)];
    if (edge == nullptr) return std::nullopt;
    const int parent = child_of(*edge).second;
    if (!edge->weld) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(edge->joint)];
      const Eigen::Vector3d own =
          poses[static_cast<std::size_t>(joint.body_b)].e * joint.frame_b.col(0);
      if (joint.traits().turns) {
        if (axis.isZero()) axis = own;
        if (!(axis.cross(own).norm() < kParallelAxes)) return std::nullopt;
      }
    }
    at = parent;
  }
  return Eigen::Vector3d(poses[static_cast<std::size_t>(body)].e.conjugate() * axis);
}

}  // namespace estimator
