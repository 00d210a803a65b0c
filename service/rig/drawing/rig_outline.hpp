#pragma once

#include <string>

#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the lines and joints of a rig as JSON, for a program that animates the rig:
///
/// - `views`: directions from which to draw, the best one first, as unit vectors `right` and `up`
/// - `bodies`: joint points (`points`) and centre of mass (`mass`) of each body
/// - `joints`: spanning tree of the bodies, starting at the ground (body −1). `sign` is −1 if the
///   positive direction moves the parent relative to the child. `start` is the rest position
/// - `mimics`: couplings between entries of `joints`
/// - `loops`: pairs of points that coincide because of the remaining joints
///
/// All points [m] and axes are in the world frame, with all joints of the tree at zero.
std::string make_rig_outline_json(const Rig& rig);

}  // namespace service
