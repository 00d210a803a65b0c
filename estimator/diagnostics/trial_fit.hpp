#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that turns too far from row to row for the description to be tested.
struct FastJoint {
  Eigen::Index joint = 0;
  double share = 0.0;   ///< share of the rows after which it turns by more than `turn`
  double turn = 0.0;    ///< [rad]
  double within = 0.0;  ///< longest time between these rows [s]
};

/// A short fit of states and parameters over short intervals with a large process noise, in a
/// bounded number of iterations. Its residuals within intervals cannot be explained by any
/// parameter values, even far from the initial ones.
///
/// Free gains keep the sign of their initial value, so that a reversed gain does not mask a motor
/// described with the wrong direction.
class TrialFit {
 public:
  TrialFit() = default;

  /// @param excerpts  few rows; the cost of a fit is proportional to them
  /// @param near      take the initial states from this fit to as many excerpts, if any
  TrialFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
           const TrialFit* near = nullptr);

  /// Fits with a process noise as large as the accelerations: little more than a regression.
  void fit_coarse(const std::atomic<bool>* stop);
  /// Fits with a small fraction of that process noise.
  void fit_fine(const std::atomic<bool>* stop);

  /// Returns whether there is a fit: a description may be meaningless.
  bool is_valid() const { return problem_ != nullptr; }
  /// The joint whose fast motion prevents a fit, if that is the reason.
  const std::optional<FastJoint>& fast_joint() const { return fast_joint_; }
  /// Whitened cost per degree of freedom; infinite without a fit; 1: noise level.
  double misfit() const;
  /// Unexplained share of the accelerations, root mean square.
  double unexplained() const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

 private:
  void set_share(double share);

  std::optional<FastJoint> fast_joint_;
  std::unique_ptr<ShootingProblem> problem_;
  ShootingNoise noise_;  ///< with the process noise as large as the accelerations
  double share_ = 1.0;
  double defects_ = 0.0;
  int freedoms_ = 1;
};

}  // namespace estimator
