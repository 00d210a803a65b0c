#include "service/rig/robot/robot.hpp"

#include <algorithm>

namespace service {

Eigen::Matrix3d rig_from_robot_world() {
  Eigen::Matrix3d rotation;
  rotation << 1.0, 0.0, 0.0,  //
      0.0, 0.0, 1.0,          //
      0.0, -1.0, 0.0;
  return rotation;
}

std::vector<std::vector<std::size_t>> Robot::child_joints() const {
  std::vector<std::vector<std::size_t>> below(links.size());
  for (std::size_t k = 0; k < joints.size(); ++k) below[joints[k].parent].push_back(k);
  return below;
}

bool Robot::follows(std::string joint, const std::string& other) const {
  for (std::size_t steps = 0; steps <= joints.size(); ++steps) {
    if (joint == other) return true;
    const auto own = std::ranges::find(joints, joint, &RobotJoint::name);
    if (own == joints.end() || !own->follows) return false;
    joint = own->follows->joint;
  }
  return false;
}

void add_free_joint(Robot& robot, std::size_t parent, std::size_t child, const Placement& origin,
                    const std::string& prefix, int line) {
  // Named after the axes of rig files, whose y is up.
  static const char* const kNames[] = {"slide_x", "slide_y", "slide_z",
                                       "turn_y",  "turn_x",  "turn_z"};
  static const int kAxes[] = {0, 1, 2, 1, 0, 2};
  std::size_t above = parent;
  for (int k = 0; k < 6; ++k) {
    const bool last = k == 5;
    RobotJoint joint;
    joint.name = prefix + kNames[k];
    joint.kind = k < 3 ? estimator::JointKind::kPrismatic : estimator::JointKind::kRevolute;
    joint.parent = above;
    joint.line = line;
    joint.of_free_body = true;
    const Eigen::Vector3d axis = rig_from_robot_world().transpose().col(kAxes[k]);
    // The axes are those of the parent; the child may be rotated.
    if (k == 0) joint.origin.translation = origin.translation;
    if (last) joint.origin.rotation = origin.rotation;
    joint.axis = last ? Eigen::Vector3d(origin.rotation.transpose() * axis) : axis;
    if (last) {
      joint.child = child;
    } else {
      joint.child = robot.links.size();
      robot.links.push_back({.name = "base_" + joint.name, .inertial = {}});
    }
    above = joint.child;
    robot.joints.push_back(std::move(joint));
  }
}

}  // namespace service
