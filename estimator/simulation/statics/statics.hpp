#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {

/// Computes the static potential energy V of a mechanism under gravity, springs and constant
/// torques, without friction, controls and motion. V is a function of displacements z that keep the
/// loops closed.
class Statics {
 public:
  /// Derivatives of the potential energy V by the displacements z, at one configuration.
  struct Local {
    Eigen::MatrixXd motions;    ///< Z, joints × z: joint displacements for each z
    Eigen::VectorXd gradient;   ///< ∂V/∂z [N·m or N]
    Eigen::MatrixXd stiffness;  ///< ∂²V/∂z² [N·m/rad], symmetric
    Eigen::MatrixXd mass;       ///< mass matrix along z, Zᵀ M Z [kg·m²]
  };

  /// @param mechanism  must outlive this; at most kTreeJointsMax joints
  explicit Statics(const Mechanism& mechanism);

  /// Returns the potential energy [J], up to a constant.
  double potential(const Eigen::VectorXd& coordinates) const;

  /// Returns the derivatives at `coordinates`, where the loops must be closed.
  Local at(const Eigen::VectorXd& coordinates);

  /// Moves the joints along the displacements z by `step` and closes the loops.
  /// @return false if the loops cannot be closed
  bool move(Eigen::VectorXd& coordinates, const Eigen::VectorXd& step);

  /// Closes the loops with the joints as close as possible to `wanted` (NaN: arbitrary).
  bool close(Eigen::VectorXd& coordinates, const Eigen::VectorXd& wanted);

  bool has_loops() const { return closure_.has_loops(); }

 private:
  void choose(const Eigen::VectorXd& coordinates);
  Eigen::MatrixXd motions(const Eigen::VectorXd& coordinates);
  Eigen::VectorXd gradient(const Eigen::VectorXd& coordinates);

  const Mechanism& mechanism_;
  TreeInverseDynamics<double> dynamics_;
  LoopClosure closure_;
  CoordinateChoice choice_;
};

}  // namespace estimator
