#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/tree/normal_modes.hpp"

namespace estimator {

/// A configuration in which nothing moves, and the small motions about it.
struct RestPose {
  Eigen::VectorXd coordinates;    ///< one a joint [rad or m]
  std::vector<NormalMode> modes;  ///< slowest first; empty where some joint moves no mass
};

/// Where the mechanism comes to rest when it is let go with friction: a minimum of its potential,
/// reached downhill from all joints at zero, or from `assembled_at`. Of several ways to assemble
/// loops the one with the lowest rest is taken.
///
/// @return nothing where it finds no rest (a cart on an inclined rail), where loops cannot be
///         closed, or with more joints than kTreeHingesMax
std::optional<RestPose> find_rest(const Mechanism& mechanism);

/// Where it rests with its end stops, which find_rest does not know: joints that would rest beyond
/// a stop lie at it, the others rest as that leaves them.
/// @param rest  what find_rest found
Eigen::VectorXd rest_within_stops(const Mechanism& mechanism, const RestPose& rest);

/// The highest balance above a rest pose, such as an upright pendulum; nothing where there is none,
/// or it is no higher.
std::optional<RestPose> find_top(const Mechanism& mechanism, const RestPose& rest);

}  // namespace estimator
