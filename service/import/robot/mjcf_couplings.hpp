#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/import/robot/mjcf_source.hpp"
#include "service/import/robot/robot.hpp"

namespace service {

/// Positions of links and sites of a MuJoCo model.
struct MjcfPoses {
  struct Site {
    std::size_t link = 0;
    Eigen::Vector3d at;  ///< in the link's frame [m]
  };
  std::map<std::string, std::size_t> links;
  std::map<std::string, Site> sites;
  std::vector<Placement> at_reference;       ///< of each link in the file's pose
  std::map<std::string, double> references;  ///< joint coordinates in that pose [rad or m]
};

/// Adds motors, mimic joints, and loops closed by a joint to a robot. MuJoCo describes such a loop
/// by two common points of two bodies, or by one point if the loop is planar. All other actuators,
/// constraints and tendons are noted.
void add_couplings(const MjcfSource& source, const MjcfPoses& places, Robot& robot);

}  // namespace service
