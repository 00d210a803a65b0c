#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Where all bodies are when the joints stand so, joints that slide or hold fast included. Bodies
/// are placed along the spanning tree; joints that close a loop are taken at their word.
///
/// @param coordinates  one a joint [rad or m]
Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Whether joints that close loops agree about how their bodies are turned with the joints of the
/// spanning tree. Equations that close loops also hold for a body that is half a turn off.
bool turns_agree(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Calls `use(body, index)` with every point at which a joint sits on a body or the ground, and the
/// index of its first coordinate among the parameters: hinges in order, then fixed joints.
template <typename Use>
void for_each_joint_point(const Mechanism& mechanism, const Use& use) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    use(hinge.body_a, mechanism.index_of_hinge(j, HingeQuantity::kPointAx));
    use(hinge.body_b, mechanism.index_of_hinge(j, HingeQuantity::kPointBx));
  }
  for (int w = 0; w < mechanism.weld_count(); ++w) {
    const Weld& weld = mechanism.welds[static_cast<std::size_t>(w)];
    use(weld.body_a, mechanism.index_of_weld(w, HingeQuantity::kPointAx));
    use(weld.body_b, mechanism.index_of_weld(w, HingeQuantity::kPointBx));
  }
}

/// A point of a joint in the frame of body a or b [m].
Eigen::Vector3d point_of_hinge(const Mechanism& mechanism, int hinge, bool on_child);
Eigen::Vector3d point_of_weld(const Mechanism& mechanism, int weld, bool on_child);

/// Acceleration of gravity in the world frame [m/s²].
Eigen::Vector3d gravity_of(const Mechanism& mechanism);

}  // namespace estimator
