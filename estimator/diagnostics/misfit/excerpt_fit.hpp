#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace estimator {

/// A fit of the open-loop simulation to short excerpts of recordings, each with its own initial
/// state. It starts from nearly correct parameters and takes a few iterations.
class ExcerptFit {
 public:
  /// Creates an object without a fit; its cost is infinite.
  ExcerptFit() = default;

  /// Fits a mechanism to excerpts of recordings.
  /// @param noise      reading noise of each sensor [rad or m]
  /// @param cost_max  limit on the cost per reading. There is no fit if free states over short
  ///                  intervals, which fit better than a simulation, cost more
  ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& pieces,
             const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
             double cost_max = std::numeric_limits<double>::infinity());

  /// Returns the whitened cost; infinite if there is no fit.
  double cost() const;
  double cost_per_reading() const { return cost() / readings_; }
  /// Returns the computing work: the number of integration steps times the number of integrated
  /// vectors, which are the motion and its sensitivities to every free parameter.
  double work() const { return work_; }
  /// Returns the root-mean-square error of a sensor [rad or m].
  double rmse(int sensor) const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

  /// Returns the standard deviation of a free parameter for white residuals of the observed size.
  double deviation(int parameter) const;

 private:
  std::unique_ptr<ShootingProblem> problem_;
  double readings_ = 1.0;
  double work_ = 0.0;
};

/// Returns the noise of each sensor: the scatter of its readings, or their quantization noise.
Eigen::VectorXd reading_noise(const Mechanism& mechanism, const std::vector<Recording>& recordings);

}  // namespace estimator
