#pragma once

#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// Update of the Levenberg–Marquardt damping α [Nie99], except that a nearly perfect gain ratio
/// reduces it by up to a factor of 100 at once.
class Damping {
 public:
  explicit Damping(const LmOptions& options);

  double value() const { return value_; }

  /// After an accepted step: multiplies by 1 − (2ρ − 1)³, limited to between 1/100 and 1/3. The
  /// damping may always decrease because too long a step is tried again (see solve); otherwise the
  /// solver would progress slowly in curved valleys.
  /// @param gain_ratio ρ, actual over predicted decrease
  void lower(double gain_ratio);

  /// After a rejected step: doubles it, then multiplies by 4, 8, … until a step is accepted.
  /// @return false at the largest damping
  bool raise();

  /// After a failed factorization, which is due to round-off: multiplies by 100.
  /// @return false at the largest damping
  bool raise_for_rounding();

 private:
  bool raise_by(double factor);

  double min_, max_, value_;
  double growth_;  // ν of [Nie99]
};

}  // namespace estimator
