#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {

/// Computes the static potential energy V of a mechanism under gravity, springs and constant
/// torques, without friction, controls and motion. V is a function of displacements z that keep the
/// loops closed.
class StaticPotential {
 public:
  /// Derivatives of the potential energy V with respect to the displacements z, at one
  /// configuration.
  struct EnergyDerivatives {
    Eigen::MatrixXd motions;    ///< Z, joints × z: joint displacements for each z
    Eigen::VectorXd gradient;   ///< ∂V/∂z [N·m or N]
    Eigen::MatrixXd stiffness;  ///< ∂²V/∂z² [N·m/rad], symmetric
    Eigen::MatrixXd mass;       ///< mass matrix along z, Zᵀ M Z [kg·m²]
  };

  /// @param mechanism  must outlive this; at most kTreeJointsMax joints
  explicit StaticPotential(const Mechanism& mechanism);

  /// Returns the potential energy [J], up to a constant.
  double potential_energy(const Eigen::VectorXd& coordinates) const;

  /// Returns the derivatives at `coordinates`, where the loops must be closed.
  EnergyDerivatives at(const Eigen::VectorXd& coordinates);

  /// Moves the joints along the displacements z by `step` and closes the loops.
  /// @return false if the loops cannot be closed
  bool move(Eigen::VectorXd& coordinates, const Eigen::VectorXd& step);

  /// Closes the loops with the joints as close as possible to `wanted` (NaN: arbitrary).
  bool close(Eigen::VectorXd& coordinates, const Eigen::VectorXd& wanted);

  bool has_loops() const { return closure_.has_loops(); }

 private:
  Eigen::MatrixXd admissible_displacements(const Eigen::VectorXd& coordinates);
  Eigen::VectorXd energy_gradient(const Eigen::VectorXd& coordinates);

  const Mechanism& mechanism_;
  TreeInverseDynamics<double> dynamics_;
  LoopClosure closure_;
  CoordinateChoice choice_;
};

/// A small synchronous motion of all joints about an equilibrium, without friction and motors.
struct NormalMode {
  /// ω² [1/s²]. Positive: oscillation with ω; negative: growth as exp(√(−ω²) t); zero: drift.
  double rate_squared;
  Eigen::VectorXd
      shape;  ///< joint displacements; the largest, in its joint's scale, is 1 [rad or m]
};

/// Returns whether a mode is neutrally stable within numerical accuracy. Its stiffness is below a
/// millionth of the largest, or its period exceeds 1.7 hours.
bool is_neutral_mode(const NormalMode& mode, const std::vector<NormalMode>& all);

/// Returns the normal modes, slowest first: the solutions of K x = ω² M x with the stiffness matrix
/// K and the mass matrix M of `local`. There are no modes if some joint moves no mass.
std::vector<NormalMode> normal_modes(const Mechanism& mechanism,
                                     const StaticPotential::EnergyDerivatives& local);

/// A configuration in static equilibrium, and the small motions about it.
struct Equilibrium {
  Eigen::VectorXd coordinates;  ///< one per joint [rad or m]
  std::vector<NormalMode>
      modes;  ///< normal modes, slowest first; empty if some joint moves no mass
};

/// Finds the configuration in which the released mechanism comes to rest. This is a minimum of the
/// potential energy, found by descent from `assembly_guess`, or from zero if none is given. For
/// loops with several assembly modes, returns the lowest minimum.
///
/// @return nullopt if no minimum exists (a cart on an inclined rail), if loops cannot be closed, or
/// for more than kTreeJointsMax joints
std::optional<Equilibrium> find_stable_equilibrium(const Mechanism& mechanism);

/// Returns the equilibrium configuration within the end stops (find_stable_equilibrium ignores
/// them). Joints that would rest beyond a stop are placed at the stop; the other joints are in
/// equilibrium.
/// @param rest  result of find_stable_equilibrium
Eigen::VectorXd find_equilibrium_within_stops(const Mechanism& mechanism, const Equilibrium& rest);

/// Finds the highest equilibrium above a stable one, such as an upright pendulum; nullopt if none
/// exists.
std::optional<Equilibrium> find_highest_equilibrium(const Mechanism& mechanism,
                                                    const Equilibrium& rest);

}  // namespace estimator
