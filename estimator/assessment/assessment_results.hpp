#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/messages/message.hpp"

namespace estimator {

/// The parameter estimates from one part of the recordings alone, with separate initial states.
/// They are linearised about the estimates from all parts.
struct PartEstimate {
  std::string recording;
  double from = 0.0, to = 0.0;  ///< [s]
  /// Estimates and their standard deviations from noise alone, one per free parameter; NaN if this
  /// part does not identify the parameter.
  Eigen::VectorXd values, standard_deviations;
};

/// The result of Cochran's Q test of whether the estimates from all parts of the recordings agree.
struct ConsistencyTest {
  double statistic = std::numeric_limits<double>::quiet_NaN();  ///< Cochran's Q; NaN if not tested
  double degrees_of_freedom = 0.0;
  double p_value =
      std::numeric_limits<double>::quiet_NaN();  ///< probability of a larger Q if the parts agree
};

/// A combination of two or more parameters that is known much more precisely, relative to its
/// value, than each parameter.
struct Combination {
  std::string description;  ///< "1.J_zz / 1.K"
  double value = 0.0;
  double standard_deviation = 0.0;
  std::string unit;
};

/// The principal moments of inertia of a body, and its principal axes in the body frame.
struct PrincipalInertia {
  std::string body;
  /// Moments and standard deviations, smallest moment first [kg·m²].
  Eigen::Vector3d moments, deviations;
  Eigen::Matrix3d axes;  ///< principal axes, one per column
  /// Whether the estimated body is planar or rod-like, the limit of physically consistent inertias.
  /// The standard deviations then assume that the body stays at this limit.
  bool at_feasibility_boundary = false;
};

/// A prior that contradicts the data and the other priors.
struct PriorConflict {
  std::string parameter;  ///< name of the parameter; of the body for a CAD prior
  double mean = 0.0;      ///< mean of the prior
  double without = 0.0;   ///< estimate from the data and all other priors
  /// Difference between `mean` and `without` [combined standard deviations].
  double deviations = 0.0;
  std::string unit;
};

/// A parameter fixed in the rig description at a value that contradicts the readings.
struct Contradiction {
  std::string name, unit;
  /// Value in the rig description, and value estimated from the data.
  double kept = 0.0, value = 0.0;
  double standard_deviation = 0.0;  ///< standard deviation of the estimated `value`
  double decrease = 0.0;            ///< decrease of the cost if the parameter is estimated
  /// The free parameter whose estimate changes most if this parameter is estimated.
  std::string moved;
  double shift = 0.0;  ///< change of the estimate of `moved` [standard deviations]
};

/// Probability below which an observation is not attributed to chance.
inline constexpr double kSignificanceLevel = 1e-4;

/// Ratio of size to standard deviation above which an effect is significant, given many candidates.
inline constexpr double kSignificantDeviations = 5.0;

/// Returns whether the size of an effect exceeds kSignificantDeviations standard deviations. A
/// deviation of 0 marks an optimum at the end of the search range, which is not significant.
inline bool is_significant(double size, double deviation) {
  return deviation > 0.0 && std::abs(size) > kSignificantDeviations * deviation;
}

enum class VerdictKind {
  kAccepted,  ///< residuals match the sensor noise, and all parts of the recordings agree
  kDoubtful,  ///< there are signs of a modelling error
  /// Residuals exceed the sensor noise, so noise alone would yield too small standard deviations.
  kRejected,
  kNoFit,  ///< the model does not fit at all; the estimates are meaningless
};

/// Assessment of the model as a whole.
struct Verdict {
  VerdictKind kind = VerdictKind::kAccepted;
  std::vector<Message> reasons = {};  ///< empty if the model has not been judged
};

}  // namespace estimator
