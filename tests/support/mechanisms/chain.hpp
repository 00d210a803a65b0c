#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Dimensions of a chain of equal links, by default slender rods.
struct ChainDescription {
  int links = 1;        ///< number of links, ≥ 1
  double mass = 0.2;    ///< mass of a link [kg], > 0
  double length = 0.3;  ///< distance between joints [m], > 0; the centre of mass is in the middle
  double inertia_axial = 1e-5;    ///< moment of inertia about the link's x axis [kg·m²]
  double inertia_swing = 1.5e-3;  ///< moments about y and z through the centre of mass [kg·m²]
  /// Point in the world's plane z = 0 at which an additional joint holds the tip of the last link
  /// and closes a loop [m]. Three links and a closing joint form a four-bar linkage.
  std::optional<Eigen::Vector3d> closing_point = std::nullopt;
};

/// Builds links "L1" … "Ln" on joints "1" … "n", all axes along world z, joint 1 at the origin.
///
/// Frame of a link: x from its joint to the next, z along the joint axis. θ₁ = 0 hangs down. The
/// other angles are relative to the previous link and zero when the two are aligned. The closing
/// joint is named by its number n + 1 and has no encoder. Its angle is the last link's, zero when
/// hanging.
Mechanism make_chain(const ChainDescription& description = {});

}  // namespace estimator
