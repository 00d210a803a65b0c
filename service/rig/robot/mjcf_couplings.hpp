#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/rig/robot/mjcf_source.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {

/// Poses of the links and positions of the sites of a MuJoCo model, in the pose that the file
/// gives.
struct MjcfPoses {
  struct Site {
    std::size_t link = 0;
    Eigen::Vector3d at;  ///< position in the frame of the link [m]
  };
  std::map<std::string, std::size_t> links;
  std::map<std::string, Site> sites;
  std::vector<Placement> at_reference;       ///< pose of each link
  std::map<std::string, double> references;  ///< joint coordinates by name [rad or m]
};

/// Adds the motors, mimic joints and loop-closing joints of a MuJoCo model to a robot. MuJoCo
/// closes a loop by connecting two bodies at two points, or at one point if the loop is planar.
/// Other actuators, other constraints, and tendons are left out and listed in the robot's notes.
void add_couplings(const MjcfSource& source, const MjcfPoses& places, Robot& robot);

}  // namespace service
