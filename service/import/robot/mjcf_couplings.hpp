#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/import/robot/mjcf_source.hpp"
#include "service/import/robot/robot.hpp"

namespace service {

/// Where links and named points of a MuJoCo model are.
struct MjcfPlaces {
  struct Site {
    std::size_t link = 0;
    Eigen::Vector3d at;  ///< in its frame [m]
  };
  std::map<std::string, std::size_t> links;
  std::map<std::string, Site> sites;
  std::vector<Placement> at_reference;       ///< of each link, in the pose that the file states
  std::map<std::string, double> references;  ///< where joints stand in it [rad] or [m]
};

/// Adds motors to the robot's joints, joints that follow others in proportion, and loops that
/// connections close by a hinge: two points that two bodies share, or one where everything between
/// turns about parallel axes. All other actuators, constraints and tendons are noted.
void add_couplings(const MjcfSource& source, const MjcfPlaces& places, Robot& robot);

}  // namespace service
