#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that turns too far from row to row for anything to be judged.
struct FastJoint {
  Eigen::Index hinge = 0;
  double share = 0.0;   ///< of the rows, after which it turns by more than `turn`
  double turn = 0.0;    ///< [rad]
  double within = 0.0;  ///< between rows, at most [s]
};

/// A short fit of states and parameters over short intervals with a generous process noise, in a
/// bounded number of iterations. What it leaves is what no values of the parameters explain within
/// intervals, however far from good they began.
///
/// Free gains keep the sign of their start: a motor described the wrong way round is not mended by
/// a gain that no motor has.
class TrialFit {
 public:
  TrialFit() = default;

  /// @param excerpts  few rows; a fit costs in proportion
  /// @param start     of the parameters; a mechanism of the same build
  /// @param near      begins with the states of this fit to as many excerpts, where there is one
  TrialFit(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
           const TrialFit* near = nullptr);

  /// With a process noise as large as the accelerations themselves: hardly more than a regression.
  void approach(const std::atomic<bool>* stop);
  /// With a small part of it.
  void settle(const std::atomic<bool>* stop);

  /// Whether there is anything to fit: a description may make no sense at all.
  bool is_valid() const { return problem_ != nullptr; }
  /// Why there is nothing, where that is the motion.
  const std::optional<FastJoint>& fast_joint() const { return fast_joint_; }
  /// Whitened cost a degree of freedom, infinite where there is no fit; 1: what noise explains.
  double misfit() const;
  /// Share of the accelerations that is left, root mean square.
  double unexplained() const;
  const Mechanism& mechanism() const { return problem_->mechanism(); }

 private:
  void set_share(double share);

  std::optional<FastJoint> fast_joint_;
  std::unique_ptr<ShootingProblem> problem_;
  ShootingNoise noise_;  ///< the process noise as large as the accelerations
  double share_ = 1.0;
  double defects_ = 0.0;
  int freedoms_ = 1;
};

}  // namespace estimator
