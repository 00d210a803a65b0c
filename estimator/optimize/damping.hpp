#pragma once

#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Levenberg–Marquardt damping α, updated as in [Nie99], except that a nearly perfect gain ratio
/// reduces it by up to a factor of 100 at once.
class Damping {
 public:
  explicit Damping(const LmOptions& options);

  double value() const { return value_; }

  /// Reduces the damping after an accepted step: multiplies it by 1 − (2ρ − 1)³, limited to between
  /// 1/100 and 1/3. It may always decrease, because a step that is too long is tried again (see
  /// solve). Otherwise the solver would progress slowly in curved valleys.
  /// @param gain_ratio ρ, actual over predicted decrease
  void lower(double gain_ratio);

  /// Raises the damping after a rejected step: multiplies it by 2, then 4, 8, … until a step is
  /// accepted.
  /// @return false at the largest damping
  bool raise();

  /// Raises the damping by 100 after a failed factorization, which is due to round-off.
  /// @return false at the largest damping
  bool raise_for_rounding();

 private:
  bool raise_by(double factor);

  double min_, max_, value_;
  double growth_;  // next factor, ν of [Nie99]
};

}  // namespace estimator
