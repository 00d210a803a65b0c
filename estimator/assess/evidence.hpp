#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace estimator {

/// What one piece of the recordings alone says, linearised about the estimates from all of them;
/// its initial states are its own.
struct PieceEstimate {
  std::string recording;
  double from = 0.0, to = 0.0;  ///< [s]
  /// One per free parameter, from noise alone; NaN where the piece cannot tell.
  Eigen::VectorXd values, standard_deviations;
};

/// Whether pieces agree: Cochran's Q against its degrees of freedom.
struct Agreement {
  double statistic = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nothing to compare
  double degrees_of_freedom = 0.0;
  double p_value = std::numeric_limits<double>::quiet_NaN();  ///< of pieces that agree
};

/// A combination of parameters that is known much better than each of them.
struct Combination {
  std::string description;  ///< "1.J_zz / 1.K"
  double value = 0.0;
  double standard_deviation = 0.0;
  std::string unit;
};

/// Moments of inertia about the principal axes of a body, which are directions in its frame.
struct PrincipalInertia {
  std::string body;
  Eigen::Vector3d moments, deviations;  ///< smallest first [kg·m²]
  Eigen::Matrix3d axes;                 ///< columns
  /// It is as flat, or as thin, as an estimate goes; the deviations are those along the border.
  bool at_border = false;
};

/// A prior that lies far from what all else says.
struct PriorConflict {
  std::string parameter;    ///< or the body, of a drawing
  double mean = 0.0;        ///< of the prior
  double without = 0.0;     ///< what the data, and all other priors, say
  double deviations = 0.0;  ///< combined ones between the two
  std::string unit;
};

/// A value that the description keeps, and the readings contradict.
struct Contradiction {
  std::string name, unit;
  double kept = 0.0, value = 0.0;   ///< as described, and as the readings have it
  double standard_deviation = 0.0;  ///< of the latter
  double decrease = 0.0;            ///< of the cost, with it
  std::string moved;                ///< the estimate that it moves most
  double shift = 0.0;               ///< by so many standard deviations
};

/// Probability below which what is seen is not taken for chance.
inline constexpr double kNoChance = 1e-4;

/// Deviations that something is large by where it is told as sure, of all that might have been.
inline constexpr double kSureDeviations = 5.0;

/// Whether something is. At the end of where it was looked for it has no deviation, and is not.
inline bool is_sure(double size, double deviation) {
  return deviation > 0.0 && std::abs(size) > kSureDeviations * deviation;
}

enum class VerdictKind {
  kHolds,            ///< what is left is noise, and pieces agree
  kDoubtful,         ///< something hints at what the model lacks
  kDoesNotHold,      ///< the model leaves more than noise: deviations from noise would be too small
  kExplainsNothing,  ///< the result is not one of this rig
};

/// What the fit says about the model as a whole.
struct Verdict {
  VerdictKind kind = VerdictKind::kHolds;
  std::string sentence;  ///< "the model does not hold: pieces disagree (Q 412 on 60)"
};

}  // namespace estimator
