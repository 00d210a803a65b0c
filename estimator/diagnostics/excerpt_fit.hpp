#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// A fit of the open-loop simulation to short excerpts of recordings, each with its own initial
/// state. Takes a few iterations from nearly correct parameters.
class ExcerptFit {
 public:
  /// No fit: its cost is infinite.
  ExcerptFit() = default;

  /// @param noise      of the sensors [rad or m]
  /// @param cost_max  limit on the cost per reading: there is no fit if free states over short
  ///                   intervals, which fit better than a simulation, cost more
  ExcerptFit(const Mechanism& mechanism, const std::vector<Recording>& pieces,
             const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
             double cost_max = std::numeric_limits<double>::infinity());

  /// Whitened cost; infinite if there is no fit.
  double cost() const;
  double cost_per_reading() const { return cost() / readings_; }
  /// Number of integration steps, times the number of integrated vectors: the motion and its
  /// sensitivities to every free parameter.
  double work() const { return work_; }
  /// Root-mean-square error of a sensor [rad or m].
  double rmse(int sensor) const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

  /// Standard deviation of a free parameter, assuming white residuals of the observed size.
  double deviation(int parameter) const;

 private:
  std::unique_ptr<ShootingProblem> problem_;
  double readings_ = 1.0;
  double work_ = 0.0;
};

/// Noise of each sensor: the scatter of its readings, or their quantization noise.
Eigen::VectorXd reading_noise(const Mechanism& mechanism, const std::vector<Recording>& recordings);

}  // namespace estimator
