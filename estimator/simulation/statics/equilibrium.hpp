#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/statics/normal_modes.hpp"

namespace estimator {

/// A configuration in static equilibrium, and the small motions about it.
struct Equilibrium {
  Eigen::VectorXd coordinates;  ///< one per joint [rad or m]
  std::vector<NormalMode>
      modes;  ///< normal modes, slowest first; empty if some joint moves no mass
};

/// Finds the configuration in which the mechanism comes to rest if it is released with friction.
/// This is a minimum of the potential energy, found by descent from `assembly_guess`, or from zero
/// if none is given. If loops can be assembled in several ways, the lowest minimum is taken.
///
/// @return nullopt if no minimum exists (a cart on an inclined rail), if loops cannot be closed, or
/// for more than kTreeJointsMax joints
std::optional<Equilibrium> find_stable_equilibrium(const Mechanism& mechanism);

/// Returns the equilibrium configuration within the end stops, which find_stable_equilibrium
/// ignores. Joints that would rest beyond a stop are placed at the stop, and the other joints are
/// moved into equilibrium.
/// @param rest  result of find_stable_equilibrium
Eigen::VectorXd rest_within_stops(const Mechanism& mechanism, const Equilibrium& rest);

/// Finds the highest equilibrium above a stable one, such as an upright pendulum; nullopt if none
/// exists.
std::optional<Equilibrium> find_highest_equilibrium(const Mechanism& mechanism,
                                                    const Equilibrium& rest);

}  // namespace estimator
