#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A chain of equal links, slender rods by default.
struct ChainDescription {
  int links = 1;                  ///< ≥ 1
  double mass = 0.2;              ///< of a link [kg], > 0
  double length = 0.3;            ///< joint to joint [m], > 0; the centre of mass is in the middle
  double inertia_axial = 1e-5;    ///< J_xx about the link [kg·m²]
  double inertia_swing = 1.5e-3;  ///< J_yy = J_zz about the centre of mass [kg·m²]
  /// If given, one more joint holds the tip of the last link at this point of the world [m], in the
  /// plane z = 0, and closes a loop. Three links and a closing joint form a four-bar linkage.
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
