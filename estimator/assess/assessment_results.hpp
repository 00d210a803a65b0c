#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace estimator {

/// Estimate from one part of the recordings alone, with its own initial states; linearised about
/// the estimate from all parts.
struct PartEstimate {
  std::string recording;
  double from = 0.0, to = 0.0;  ///< [s]
  /// One per free parameter, from noise alone; NaN: not identifiable from this part.
  Eigen::VectorXd values, standard_deviations;
};

/// Consistency of the parts of the recordings: Cochran's Q and its degrees of freedom.
struct ConsistencyTest {
  double statistic = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not tested
  double degrees_of_freedom = 0.0;
  double p_value =
      std::numeric_limits<double>::quiet_NaN();  ///< of a larger Q if parts are consistent
};

/// A combination of parameters with a much smaller relative uncertainty than each of them.
struct Combination {
  std::string description;  ///< "1.J_zz / 1.K"
  double value = 0.0;
  double standard_deviation = 0.0;
  std::string unit;
};

/// Principal moments of inertia of a body, and principal axes in its frame.
struct PrincipalInertia {
  std::string body;
  Eigen::Vector3d moments, deviations;  ///< smallest first [kg·m²]
  Eigen::Matrix3d axes;                 ///< columns
  /// Planar or rod-like up to the feasibility boundary; the standard deviations are those along it.
  bool at_feasibility_boundary = false;
};

/// A prior that contradicts the other information.
struct PriorConflict {
  std::string parameter;    ///< or the body, for a CAD prior
  double mean = 0.0;        ///< of the prior
  double without = 0.0;     ///< estimate from the data and all other priors
  double deviations = 0.0;  ///< difference in combined standard deviations
  std::string unit;
};

/// A fixed value in the description that contradicts the readings.
struct Contradiction {
  std::string name, unit;
  double kept = 0.0, value = 0.0;   ///< as described, and as estimated
  double standard_deviation = 0.0;  ///< of the estimated value
  double decrease = 0.0;            ///< of the cost if it is estimated
  std::string moved;                ///< the estimate that it changes most
  double shift = 0.0;               ///< change in standard deviations
};

/// Probability below which an observation is not attributed to chance.
inline constexpr double kSignificanceLevel = 1e-4;

/// Ratio of size to standard deviation above which an effect is significant, given many candidates.
inline constexpr double kSignificantDeviations = 5.0;

/// Returns whether an effect is significant; not at the end of its search range (deviation 0).
inline bool is_significant(double size, double deviation) {
  return deviation > 0.0 && std::abs(size) > kSignificantDeviations * deviation;
}

enum class VerdictKind {
  kAccepted,  ///< residuals are noise, and all parts agree
  kDoubtful,  ///< signs of a modelling error
  kRejected,  ///< residuals exceed noise: deviations from noise alone would be too small
  kNoFit,     ///< no fit: the estimates are meaningless
};

/// Assessment of the model as a whole.
struct Verdict {
  VerdictKind kind = VerdictKind::kAccepted;
  std::string sentence;  ///< "the model is rejected: the segments disagree (…)"
};

}  // namespace estimator
