#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/instant/instant_program.hpp"

namespace estimator {

/// What is known beforehand of coordinates, rates and accelerations of all joints: a Gaussian.
struct MotionPrior {
  Eigen::VectorXd mean;
  Eigen::MatrixXd information;  ///< inverse of the covariance
};

/// The prior of independent numbers.
/// @param deviation  one a number, > 0; infinite: nothing is known
MotionPrior independent_prior(const Eigen::VectorXd& mean, const Eigen::VectorXd& deviation);

/// Noise of what is read, and of what pushes from outside: standard deviations.
struct InstantNoise {
  Eigen::VectorXd axes;         ///< one an axis, > 0
  double outside_moment = 0.0;  ///< of each component [N·m]
  double outside_force = 0.0;   ///< [N]; zero, both: nothing pushes
  bool has_outside() const { return outside_moment > 0.0 || outside_force > 0.0; }
};

/// The most probable motion, and how sure that is.
struct InstantEstimate {
  Eigen::VectorXd motion;      ///< coordinates, rates, accelerations
  Eigen::VectorXd outside;     ///< what pushes, as InstantProgram has it
  Eigen::MatrixXd covariance;  ///< of the motion
  /// Twice the negative logarithm of the posterior density, up to a constant: squared residuals
  /// over their variances, those of the prior included.
  double cost = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool converged = false;
};

/// Motion and loads of a mechanism at one instant from redundant, noisy sensors: the maximum of the
/// posterior [Nori, problem 6], iterated. In joint coordinates the model D d + b = 0 holds exactly;
/// what remains are sensors and prior, in 3 n unknowns. What pushes from outside is linear, has
/// mean zero and is marginalised: it adds to the covariance of the readings that feel it.
class InstantEstimator {
 public:
  InstantEstimator(const Mechanism& mechanism, std::vector<InstantAxis> axes, InstantNoise noise);

  InstantProgram& program() { return program_; }
  /// Joints on their way from the ground, parents first.
  const std::vector<int>& order() const { return order_; }
  const InstantNoise& noise() const { return noise_; }

  /// Levenberg–Marquardt from a start, damped as LmOptions says.
  /// @param readings  one an axis
  InstantEstimate estimate(const Eigen::VectorXd& readings, const MotionPrior& prior,
                           const Eigen::VectorXd& start, int max_iterations = 50);

  /// The same of the first `joints` joints of `order`, by the axes that tell of these alone; the
  /// others stay where they start. No covariance.
  InstantEstimate estimate_first(int joints, const Eigen::VectorXd& readings,
                                 const MotionPrior& prior, const Eigen::VectorXd& start,
                                 int max_iterations);

  /// Covariance that no unbiased estimate of the motion can beat at a motion, by the sensors alone
  /// (Cramér and Rao), pushes from outside being unknown as the noise says.
  /// @return infinite where the sensors do not tell
  Eigen::MatrixXd bound(const Eigen::VectorXd& motion);

 private:
  struct Part {
    std::vector<int> axes, unknowns;
    std::vector<int> coupled;  // places among the axes of those that feel pushes
    std::vector<int> feeling;  // the axes at these places
    Eigen::VectorXd weights;   // of the axes, over their deviations
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

  InstantProgram program_;
  InstantNoise noise_;
  std::vector<int> order_;   // joints, parents first
  std::vector<Part> parts_;  // of the first 0, 1, … n joints
  Eigen::VectorXd outside_deviation_;

  // At the motion last looked at.
  Eigen::VectorXd values_, plain_, residual_;  // residual_ is plain_, whitened
  Eigen::MatrixXd slopes_, jacobian_;          // of the part's axes, whitened
  Eigen::MatrixXd pushes_;                     // of the coupled axes along pushes, not whitened
  Eigen::MatrixXd factor_;                     // of the coupled readings' covariance
};

}  // namespace estimator
