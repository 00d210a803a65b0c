#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/description/hypothesis.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that turns so far between consecutive samples that the rig description cannot be tested.
struct FastJoint {
  Eigen::Index joint = 0;
  double share = 0.0;   ///< share of samples after which the joint turns by more than `turn`
  double turn = 0.0;    ///< [rad]
  double within = 0.0;  ///< longest time between two samples [s]
};

/// A quick fit of states and parameters over short intervals with a large process noise and few
/// iterations. Residuals that remain within the intervals indicate an error of the rig description,
/// since no parameter values explain them.
///
/// Free motor gains keep the sign of their initial value. Otherwise a reversed gain would hide a
/// motor described with the wrong direction.
class TrialFit {
 public:
  TrialFit() = default;

  /// Prepares a fit of a mechanism to excerpts of recordings.
  /// @param excerpts  few samples; the computing time is proportional to their number
  /// @param near      if given, its states are the initial states; a fit to as many excerpts
  TrialFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
           const TrialFit* near = nullptr);

  /// Fits with a process noise as large as the accelerations, which is little more than a
  /// regression.
  void run_coarse_fit(const std::atomic<bool>* stop);
  /// Fits with a process noise that is a small fraction of the accelerations.
  void run_fine_fit(const std::atomic<bool>* stop);

  /// Returns whether the description could be fitted. A physically meaningless description cannot.
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

/// A hypothetical error of the rig description, and a fit with this error corrected.
struct DescriptionErrorTrial {
  DescriptionHypothesis hypothesis;
  TrialFit fit;
  int order = 0;  ///< index of the hypothesis
};

/// Trial fits of a rig description: one fit of the description as given, and one fit for each
/// likely error, with this error corrected.
struct DescriptionErrorTrials {
  TrialFit given;
  /// The most promising trials, best first. Empty if the description as given fits the recordings
  /// well.
  std::vector<DescriptionErrorTrial> trials;
};

/// Fits a rig description as given, and with each likely error corrected.
/// @param excerpts  short excerpts of recordings (select_excerpts)
DescriptionErrorTrials try_description_errors(const Mechanism& mechanism,
                                              const std::vector<Recording>& excerpts,
                                              const CalibrationMonitor& monitor = {});

/// The free zero offset of an encoder, and the initial value that a calibration should use for it.
struct InitialEncoderOffset {
  int parameter = 0;
  double value = 0.0;  ///< [rad]
};

/// The errors found in a rig description, and the repairs that need no confirmation by the user.
struct DescriptionExamination {
  std::vector<Finding> findings;
  std::vector<InitialEncoderOffset> starts;
};

/// Searches a rig description for errors before any calibration. Runs short fits to a few seconds
/// of the recordings, with the description as given and with each likely error corrected. An error
/// is a fault only if the description fits badly and its correction fits much better. Errors that
/// the recordings cannot distinguish are reported in one finding. A free encoder zero far from its
/// given value is a warning and yields an initial value. Reports "unexplained" if no hypothesis
/// fits, and "not-checked" if a joint turns too far between samples.
///
/// The numbers of samples, hypotheses and iterations are bounded. Returns no findings for unusable
/// recordings; `calibrate` reports the reason.
DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor = {});

}  // namespace estimator
