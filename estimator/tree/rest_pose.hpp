#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/tree/normal_modes.hpp"

namespace estimator {

/// An equilibrium configuration, and the small motions about it.
struct RestPose {
  Eigen::VectorXd coordinates;    ///< one per joint [rad or m]
  std::vector<NormalMode> modes;  ///< slowest first; empty if some joint moves no mass
};

/// Finds the configuration in which the mechanism comes to rest if released with friction. It is a
/// minimum of the potential, found by descent from all joints at zero, or at `assembled_at`. Of
/// several assembly modes of loops it takes the one with the lowest minimum.
///
/// @return nothing if there is no minimum (a cart on an inclined rail), if loops cannot be closed,
/// or for more than kTreeHingesMax joints
std::optional<RestPose> find_rest(const Mechanism& mechanism);

/// Rest configuration with end stops, which find_rest ignores. Joints that would rest beyond a stop
/// are placed at it, and the others are balanced accordingly.
/// @param rest  result of find_rest
Eigen::VectorXd rest_within_stops(const Mechanism& mechanism, const RestPose& rest);

/// The highest equilibrium above a rest pose, such as an upright pendulum; nothing if none exists.
std::optional<RestPose> find_top(const Mechanism& mechanism, const RestPose& rest);

}  // namespace estimator
