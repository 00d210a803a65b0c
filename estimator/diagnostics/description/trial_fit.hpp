#pragma once

#include <Eigen/Core>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that turns so far between consecutive samples that the rig description cannot be tested.
struct FastJoint {
  Eigen::Index joint = 0;
  double share = 0.0;   ///< share of sampling intervals in which it turns by more than `turn`
  double turn = 0.0;    ///< [rad]
  double within = 0.0;  ///< longest time between two samples [s]
};

/// A quick fit of states and parameters over short intervals with a large process noise and few
/// iterations. Residuals that remain within the intervals indicate an error of the rig description,
/// since no parameter values explain them.
///
/// Free motor gains keep the sign of their initial value. Otherwise a gain of opposite sign would
/// hide a motor described with the wrong direction.
class TrialFit {
 public:
  TrialFit() = default;

  /// Prepares a fit of a mechanism to excerpts of recordings.
  /// @param excerpts  should have few samples; the computing time is proportional to their number
  /// @param near      if given, a fit to the same number of excerpts; its states become the initial
  ///                  states
  TrialFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
           const TrialFit* near = nullptr);

  /// Fits with a process noise as large as the accelerations, which is little more than a
  /// regression.
  void run_coarse_fit(const std::atomic<bool>* stop);
  /// Fits with a process noise that is a small fraction of the accelerations.
  void run_fine_fit(const std::atomic<bool>* stop);

  /// Returns whether the description could be fitted; false if it is physically meaningless.
  bool is_valid() const { return problem_ != nullptr; }
  /// Returns the joint whose motion is too fast for a fit; nullopt if no joint is.
  const std::optional<FastJoint>& fast_joint() const { return fast_joint_; }
  /// Returns the whitened cost per degree of freedom: 1 at noise level, infinite without a fit.
  double misfit() const;
  /// Returns the root-mean-square share of the accelerations that the fitted model leaves
  /// unexplained.
  double unexplained_acceleration_share() const;
  /// Returns the unexplained root-mean-square share of the accelerations of each coordinate, after
  /// a fine fit; empty before.
  const Eigen::VectorXd& unexplained_accelerations() const { return unexplained_accelerations_; }
  const Mechanism& mechanism() const { return problem_->mechanism(); }

 private:
  void set_process_noise_share(double share);
  void evaluate_accelerations();

  std::optional<FastJoint> fast_joint_;
  std::unique_ptr<ShootingProblem> problem_;
  ShootingNoise noise_;  ///< noise levels, with a process noise as large as the accelerations
  Eigen::VectorXd unexplained_accelerations_;
  double share_ = 1.0;
  double defects_ = 0.0;
  int freedoms_ = 1;
};

}  // namespace estimator
