#pragma once

#include <Eigen/Core>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A chain of equal links, slender rods by default.
struct ChainDescription {
  int links = 1;                  ///< ≥ 1
  double mass = 0.2;              ///< of a link [kg], > 0
  double length = 0.3;            ///< hinge to hinge [m], > 0; the centre of mass is in the middle
  double inertia_axial = 1e-5;    ///< J_xx about the link [kg·m²]
  double inertia_swing = 1.5e-3;  ///< J_yy = J_zz about the centre of mass [kg·m²]
  /// Where given, one more hinge holds the tip of the last link at this point of the world [m], in
  /// the plane z = 0, and closes a loop: three links and a closing hinge are a four-bar linkage.
  std::optional<Eigen::Vector3d> closing_point = std::nullopt;
};

/// Links "L1" … "Ln" on hinges "1" … "n", all axes along world z, hinge 1 at the origin.
///
/// Frame of a link: x from its hinge to the next, z the hinge axis. θ₁ = 0 hangs, the other angles
/// are relative to the link before and zero where the two are in line. A closing hinge is named
/// "n+1" by its number, has no encoder, and its angle is that of the last link, zero hanging.
Mechanism make_chain(const ChainDescription& description = {});

}  // namespace estimator
