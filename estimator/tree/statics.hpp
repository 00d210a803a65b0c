#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {

/// What gravity, springs and constant torques do to a mechanism that stands still without friction,
/// command and motion: its potential energy V over the motions z that its loops leave.
class Statics {
 public:
  /// V and what a small motion sees of it, at one configuration.
  struct Local {
    Eigen::MatrixXd motions;    ///< Z, joints × z: how the joints move with z
    Eigen::VectorXd gradient;   ///< ∂V/∂z [N·m or N]
    Eigen::MatrixXd stiffness;  ///< ∂²V/∂z² [N·m/rad], symmetric
    Eigen::MatrixXd mass;       ///< Zᵀ M Z [kg·m²]
  };

  /// @param mechanism  must outlive this; at most kTreeHingesMax joints
  explicit Statics(const Mechanism& mechanism);

  /// V [J]; where its zero lies is of no meaning.
  double potential(const Eigen::VectorXd& coordinates) const;

  /// The loops must be closed at `coordinates`.
  Local at(const Eigen::VectorXd& coordinates);

  /// Where joints come to when z moves by `step` and the loops stay closed.
  /// @return false where the loops cannot follow
  bool move(Eigen::VectorXd& coordinates, const Eigen::VectorXd& step);

  /// Closes the loops with the joints as near as can be to `wanted`; NaN: nothing is wanted.
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
