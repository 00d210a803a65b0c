// Feeds arbitrary text to the readers of robot descriptions, URDF and MJCF. Each refuses it in one
// sentence that names the file, or the robot is usable: links and joints form a tree with finite
// values, and the robot can be written as a rig file, a URDF file and a MuJoCo model.

#include <cmath>
#include <cstdint>
#include <string>

#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"
#include "tests/fuzz/refusal.hpp"
#include "tests/fuzz/silent_protobuf.hpp"

namespace {

using fuzz::require;

constexpr const char* kPath = "robot.xml";

void check_robot(const service::Robot& robot) {
  require(robot.root < robot.links.size() && robot.links.size() <= service::kRobotLinksMax + 6);
  require(robot.joints.size() + 1 == robot.links.size());
  for (const service::RobotLink& link : robot.links) {
    if (!link.inertial) continue;
    require(link.inertial->mass > 0.0 && std::isfinite(link.inertial->mass));
  }
  for (const service::RobotJoint& joint : robot.joints) {
    require(joint.parent < robot.links.size() && joint.child < robot.links.size());
    require(std::isfinite(joint.damping) && std::isfinite(joint.friction));
    require(std::isfinite(joint.velocity) && !std::isnan(joint.lower) && !std::isnan(joint.upper));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::silence_protobuf();
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_value_or_refusal(kPath, [&] {
    const service::Robot robot = service::parse_robot(kPath, text);
    check_robot(robot);
    (void)service::format_urdf(robot, {});
    (void)service::format_mjcf(robot, {});
    const bool floats = !robot.gravity && text.size() % 2 == 1;
    (void)service::parse_rig(
        kPath, service::convert_robot_to_rig(robot, {.source = kPath, .floating = floats}).text);
  });
  return 0;
}
