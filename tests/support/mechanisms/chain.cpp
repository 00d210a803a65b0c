#include "tests/support/mechanisms/chain.hpp"

#include <cassert>
#include <string>

#include "tests/support/mechanisms/frames.hpp"

namespace estimator {
namespace {

Joint make_link_joint(int number, int body_a, int body_b) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Joint joint;
  joint.name = std::to_string(number);
  joint.body_a = body_a;
  joint.body_b = body_b;
  joint.frame_a = body_a == Joint::kGround ? make_joint_frame(z, -y) : make_joint_frame(z, x);
  joint.frame_b = make_joint_frame(z, x);
  return joint;
}

}  // namespace

Mechanism make_chain(const ChainDescription& description) {
  assert(description.links >= 1);
  const int n = description.links;
  Mechanism mechanism;
  mechanism.name = "chain";
  for (int i = 0; i < n; ++i) {
    mechanism.bodies.push_back({.name = std::string("L").append(std::to_string(i + 1))});
    mechanism.joints.push_back(make_link_joint(i + 1, i == 0 ? Joint::kGround : i - 1, i));
  }
  if (description.closing_point) {
    mechanism.joints.push_back(make_link_joint(n + 1, Joint::kGround, n - 1));
    mechanism.joints.back().measured = false;
  }
  make_parameters(mechanism);

  const Eigen::Vector3d tip = 0.5 * description.length * Eigen::Vector3d::UnitX();
  for (int i = 0; i < n; ++i) {
    mechanism.parameter(i, BodyParameter::kMass).value = description.mass;
    set_inertia(mechanism, i,
                {description.inertia_axial, description.inertia_swing, description.inertia_swing});
    set_joint_points(mechanism, i, i == 0 ? Eigen::Vector3d::Zero() : tip, -tip);
  }
  if (description.closing_point) set_joint_points(mechanism, n, *description.closing_point, tip);
  return mechanism;
}

}  // namespace estimator
