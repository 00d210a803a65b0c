#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/fit/physical/modulated_motion.hpp"
#include "estimator/fit/physical/standard_coordinates.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Torque integrals ∫ φ τ dt of one joint, compared with their prediction by inverse dynamics.
/// Members other than `count` are root mean squares over the test functions [N·m]; [N] for a
/// sliding joint.
struct TorqueComparison {
  int count = 0;          ///< number of test functions
  double error = 0.0;     ///< difference between integral and prediction
  double expected = 0.0;  ///< standard deviation of the difference due to noise
  double torque = 0.0;    ///< integral of the torque
};

/// The least-squares problem of the equation error of a tree whose joints are all observed. With
/// filtered angles θ, rates ω and accelerations ω̇, the torque imbalance of each joint,
/// r = ρ(θ, ω, ω̇, χ) + σ B, is multiplied by test functions φ and integrated (ModulatedMotion).
/// The cost is
///
///   eᵀ C⁻¹ e + priors,   e = ∫ φ r dt,
///
/// with the filtered direction of motion σ. There are no states. The covariance C of the integrals
/// of a joint results from white torque noise, from the readings' noise and, near rest, from
/// unknown dry friction.
///
/// r is affine in the standard coordinates π (StandardCoordinates), except in encoder offsets and a
/// few friction and motor parameters. If r is affine in all estimated coordinates, the integrals
/// are compressed to one row per coordinate. An iteration then does not evaluate the recordings.
class EquationErrorProblem final : public LeastSquaresProblem {
 public:
  /// @param mechanism  tree with set-valued friction; each free parameter affects the motion or is
  ///                   an encoder offset
  /// @param motion     must outlive this object
  EquationErrorProblem(const Mechanism& mechanism, const ModulatedMotion& motion);

  // LeastSquaresProblem.
  ProblemShape shape() const override { return {0, 1, 0, free_.size()}; }
  int block_count() const override;
  int max_block_rows() const override;
  int noise_group_count() const override { return 2; }
  int thread_count() const override { return 1; }
  void linearize(int index, ResidualBlock& out) const override;
  double cost() const override { return point_.cost; }
  double evaluate_trial_step(const Eigen::VectorXd& node_step,
                             const Eigen::VectorXd& parameter_step) override;
  void accept_trial_step() override;
  void save_point() override { saved_ = point_; }
  void restore_point() override { point_ = saved_; }
  Eigen::VectorXd parameter_values() const override {
    return free_.parameter_values(point_.mechanism);
  }
  Eigen::VectorXd lower_bounds() const override { return free_.lower(point_.mechanism); }
  Eigen::VectorXd upper_bounds() const override { return free_.upper(point_.mechanism); }
  Eigen::VectorXd step_factor_limits() const override {
    return free_.step_factor_limits(point_.mechanism);
  }

  const Mechanism& mechanism() const { return point_.mechanism; }
  const FreeParameters& free_parameters() const { return free_; }
  /// Returns the number of integrals in the cost.
  int integral_count() const;
  /// Returns whether the integrals are affine in the estimated coordinates.
  bool is_affine() const { return is_affine_; }

  /// Returns the integrals of the torque imbalance of a joint at the current point, one for each
  /// test function [N·m].
  Eigen::VectorXd imbalance_integrals(int joint) const;

  /// Compares the torque imbalance of a joint at the current point with its torque, over the test
  /// functions during which the direction of the joint is known.
  /// @param torque   integrals of the torque, one for each test function [N·m]
  /// @param density  spectral density of the torque's noise [N²m²/Hz]
  TorqueComparison compare_torques(int joint, const Eigen::VectorXd& torque, double density) const;

  /// Sets the covariances to the scatter of the integrals at the current point. Cauchy weights
  /// reduce the effect of integrals with a large imbalance, such as at impacts.
  void update_weights();

 private:
  /// Integrals e and their derivatives with respect to the standard coordinates, at given values of
  /// these coordinates. Each test function and joint has a row.
  struct Linearization {
    Eigen::VectorXd coordinates;
    Eigen::VectorXd integrals;  ///< [N·m]
    Eigen::MatrixXd slopes;
  };
  struct Iterate {
    Mechanism mechanism;
    Linearization whitened;  ///< rows are whitened, and compressed if the problem is affine
    double cost = 0.0;
  };
  /// An encoder offset, and the change of the joint coordinates that it causes.
  struct FreeOffset {
    int coordinate;  ///< position of the offset among the standard coordinates
    double in_use;   ///< value of the offset in the angles of the motion
    Eigen::VectorXd joints;
  };
  /// The integrals of a joint that enter the cost, and the band factor L of their covariance:
  /// C = L Lᵀ.
  struct JointIntegrals {
    std::vector<int> functions;  ///< ascending
    Eigen::MatrixXd factor;      ///< functions × 4; column k contains L(i, i − k)
  };

  int joint_count() const { return static_cast<int>(motion_.angle.rows()); }
  Eigen::VectorXd angle_shift(const Mechanism& mechanism) const;
  Eigen::VectorXd compute_integrals(const Mechanism& values, Eigen::MatrixXd* slopes) const;
  Linearization linearize_at(const Mechanism& values) const;
  Linearization whiten(const Linearization& at) const;
  Eigen::VectorXd integrals_at(const Mechanism& values) const;
  Eigen::VectorXd whitened_residual(const Iterate& point) const;
  void weight_joint(int joint, const Eigen::VectorXd& integrals, double inertia_noise);
  Eigen::VectorXd inertia_noise() const;
  bool find_affine() const;
  void whiten_point(Iterate& point) const;
  double total_cost(const Mechanism& mechanism, double squares) const;

  FreeParameters free_;
  StandardCoordinates coordinates_;
  Mechanism lifted_;  ///< mechanism with the parameters of the coordinates free
  std::vector<FreeOffset> offsets_;
  ProgramVariants programs_;
  const ModulatedMotion& motion_;
  Linearization start_;  ///< linearization at the initial values, the only one of affine problems
  bool is_affine_ = false;
  Eigen::VectorXd dry_bound_;  ///< mean dry-friction bound of each joint at the last evaluation
  std::vector<JointIntegrals> joints_;
  Iterate point_, candidate_, saved_;
};

}  // namespace estimator
