#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// A fit of the open-loop simulation to short pieces of recordings, each with a start of its own,
/// in a few iterations from parameters that are nearly right.
class PieceFit {
 public:
  /// None: its cost is infinite.
  PieceFit() = default;

  /// @param noise      of the sensors [rad or m]
  /// @param cost_most  cost per reading above which the fit is of no use: none where free states
  ///                   over short intervals, which explain more than a simulation, leave more
  PieceFit(const Mechanism& mechanism, const std::vector<Recording>& pieces,
           const Eigen::VectorXd& noise, const CalibrationMonitor& monitor,
           double cost_most = std::numeric_limits<double>::infinity());

  /// Whitened; infinite where there is no fit.
  double cost() const;
  double cost_per_reading() const { return cost() / readings_; }
  /// Integration steps that were made, times what they were made of: the motion and its derivatives
  /// along every free parameter.
  double work() const { return work_; }
  /// Root mean square error of a sensor [rad or m].
  double rmse(int sensor) const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

  /// Of a free parameter, if the residuals were white noise of the size that they have.
  double deviation(int parameter) const;

 private:
  std::unique_ptr<ShootingProblem> problem_;
  double readings_ = 1.0;
  double work_ = 0.0;
};

/// What counts as noise of a sensor: the scatter of its readings, or their quantum's.
Eigen::VectorXd reading_noise(const Mechanism& mechanism, const std::vector<Recording>& recordings);

}  // namespace estimator
