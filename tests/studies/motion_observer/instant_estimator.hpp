#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "tests/studies/motion_observer/instant_program.hpp"

namespace estimator {

/// Gaussian prior of the motion: coordinates, rates and accelerations of all joints.
struct MotionPrior {
  Eigen::VectorXd mean;
  Eigen::MatrixXd information;  ///< inverse covariance
};

/// Returns a prior whose components are independent.
/// @param deviation  standard deviation of each component, > 0; infinite for no information
MotionPrior independent_prior(const Eigen::VectorXd& mean, const Eigen::VectorXd& deviation);

/// Standard deviations of the sensor noise and of the external wrenches.
struct InstantNoise {
  Eigen::VectorXd axes;                    ///< per sensor axis, > 0
  double external_moment_deviation = 0.0;  ///< of each moment component [N·m]
  double external_force_deviation = 0.0;   ///< [N]; both zero: no external wrenches
  bool has_external_wrench() const {
    return external_moment_deviation > 0.0 || external_force_deviation > 0.0;
  }
};

/// Maximum a posteriori (MAP) estimate of the motion at an instant, with its uncertainty.
struct InstantEstimate {
  Eigen::VectorXd motion;             ///< coordinates, rates, accelerations
  Eigen::VectorXd external_wrenches;  ///< external wrenches, ordered as in InstantModel
  Eigen::MatrixXd covariance;         ///< covariance of the motion
  /// Twice the negative logarithm of the posterior density, up to a constant. It is the sum of the
  /// squared residuals of sensors and prior over their variances.
  double cost = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool converged = false;
};

/// Estimator of the motion and loads of a mechanism at one instant from redundant, noisy sensors:
/// the iterated MAP estimate [Nori, problem 6]. In joint coordinates, the model D d + b = 0 for the
/// dynamic variables d holds exactly. Only the residuals of sensors and prior remain, with 3 n
/// unknowns for n joints. External wrenches have zero mean and act linearly, so they are
/// marginalised: they add to the covariance of the readings that depend on them.
class MotionObserver {
 public:
  MotionObserver(const Mechanism& mechanism, std::vector<InstantAxis> axes, InstantNoise noise);

  InstantModel& program() { return program_; }
  /// Returns the joints in order from the ground, parents first.
  const std::vector<int>& order() const { return order_; }
  const InstantNoise& noise() const { return noise_; }

  /// Estimates the motion by the Levenberg–Marquardt method, damped as in LmOptions.
  /// @param readings  one reading per sensor axis
  /// @param start     initial motion
  InstantEstimate estimate(const Eigen::VectorXd& readings, const MotionPrior& prior,
                           const Eigen::VectorXd& start, int max_iterations = 50);

  /// Estimates only the motion of the first `joints` joints of `order`, from the sensor axes that
  /// depend on no other joints. Other joints keep their initial motion. Computes no covariance.
  InstantEstimate estimate_first_joints(int joints, const Eigen::VectorXd& readings,
                                        const MotionPrior& prior, const Eigen::VectorXd& start,
                                        int max_iterations);

  /// Returns the Cramér–Rao bound at a motion: the least covariance of an unbiased estimate from
  /// the sensors alone, with random external wrenches as in the noise model.
  /// @return infinite if the sensors do not determine the motion
  Eigen::MatrixXd bound(const Eigen::VectorXd& motion);

 private:
  struct Part {
    std::vector<int> axes, unknowns;
    std::vector<int> coupled;  // positions among the axes of those that depend on external wrenches
    std::vector<int> coupled_axes;  // the axes at these positions
    Eigen::VectorXd weights;        // of the axes, inverse standard deviations
  };
  Part first(int joints) const;
  const Part& all() const { return parts_.back(); }
  double look(const Part& part, const Eigen::VectorXd& readings, const MotionPrior& prior,
              const Eigen::VectorXd& motion);
  void linearize(const Part& part);
  void whiten(const Part& part);
  void whiten_residual(const Part& part);
  InstantEstimate solve(const Part& part, const Eigen::VectorXd& readings, const MotionPrior& prior,
                        const Eigen::VectorXd& start, int max_iterations);

  InstantModel program_;
  InstantNoise noise_;
  std::vector<int> order_;   // joints, parents first
  std::vector<Part> parts_;  // of the first 0, 1, … n joints
  Eigen::VectorXd outside_deviation_;

  // At the last evaluated motion.
  Eigen::VectorXd values_, plain_, residual_;  // residual_ is plain_, whitened
  Eigen::MatrixXd slopes_, jacobian_;          // of the part's axes, whitened
  Eigen::MatrixXd pushes_;                     // of coupled axes by wrenches, not whitened
  Eigen::MatrixXd factor_;                     // of the coupled readings' covariance
};

}  // namespace estimator
