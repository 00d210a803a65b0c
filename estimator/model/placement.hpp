#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Poses of all bodies at the given joint coordinates, for joints of all kinds. Bodies are placed
/// along the spanning tree; coordinates of joints that close a loop have no effect.
///
/// @param coordinates  one per joint [rad or m]
Configuration place_bodies(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Whether the joints that close loops give the same body orientations as those of the spanning
/// tree. The loop-closure equations alone also hold for a body that is half a turn off.
bool turns_agree(const Mechanism& mechanism, const Eigen::VectorXd& coordinates);

/// Calls `use(body, index)` for every joint point on a body or the ground. `index` is that of the
/// point's first coordinate among the parameters: movable joints first, then fixed joints.
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

/// A joint point in the frame of body a or b [m].
Eigen::Vector3d point_of_hinge(const Mechanism& mechanism, int hinge, bool on_child);
Eigen::Vector3d point_of_weld(const Mechanism& mechanism, int weld, bool on_child);

/// Acceleration of gravity in the world frame [m/s²].
Eigen::Vector3d gravity_of(const Mechanism& mechanism);

}  // namespace estimator
