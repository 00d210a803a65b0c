#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/normal_modes.hpp"

namespace estimator {

/// An equilibrium configuration, and the small motions about it.
struct Equilibrium {
  Eigen::VectorXd coordinates;    ///< one per joint [rad or m]
  std::vector<NormalMode> modes;  ///< slowest first; empty if some joint moves no mass
};

/// Finds the configuration in which the mechanism comes to rest if released with friction. It is a
/// minimum of the potential, found by descent from all joints at zero, or at `assembly_guess`. Of
/// several assembly modes of loops it takes the one with the lowest minimum.
///
/// @return nothing if there is no minimum (a cart on an inclined rail), if loops cannot be closed,
/// or for more than kTreeJointsMax joints
std::optional<Equilibrium> find_stable_equilibrium(const Mechanism& mechanism);

/// Rest configuration with end stops, which find_stable_equilibrium ignores. Joints that would rest
/// beyond a stop are placed at it, and the others are balanced accordingly.
/// @param rest  result of find_stable_equilibrium
Eigen::VectorXd rest_within_stops(const Mechanism& mechanism, const Equilibrium& rest);

/// The highest equilibrium above a rest pose, such as an upright pendulum; nothing if none exists.
std::optional<Equilibrium> find_highest_equilibrium(const Mechanism& mechanism,
                                                    const Equilibrium& rest);

}  // namespace estimator
