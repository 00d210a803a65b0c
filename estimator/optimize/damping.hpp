#pragma once

#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Damping α of Levenberg–Marquardt from step to step [Nie99], except that a nearly perfect gain
/// ratio lowers it by up to a hundredfold at once.
class Damping {
 public:
  explicit Damping(const LmOptions& options);

  double value() const { return value_; }

  /// After a step that was taken: by 1 − (2ρ − 1)³, at least to a third and at most to a hundredth.
  /// That it always falls is affordable because a step too long gets a second chance; in a bent
  /// valley the solver would crawl otherwise.
  /// @param gain_ratio ρ, actual over predicted decrease
  void lower(double gain_ratio);

  /// After a step that was not taken: twofold, then four-, eightfold, … until one is taken.
  /// @return false at the largest damping
  bool raise();

  /// After a factorisation that failed, which is a matter of rounding: a hundredfold.
  /// @return false at the largest damping
  bool raise_for_rounding();

 private:
  bool raise_by(double factor);

  double min_, max_, value_;
  double growth_;  // ν of [Nie99]
};

}  // namespace estimator
