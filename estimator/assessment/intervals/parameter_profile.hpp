#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// The profile likelihood of one parameter: fits in which this parameter is fixed at several values
/// and all other parameters are estimated. Friction exp(−ζ ω²) is so nonlinear in its decay rate ζ
/// that linearized intervals are too narrow, and the cost may have several minima. If a parameter
/// is at a bound, all other estimates assume that its value is exactly the bound.
struct ParameterProfile {
  struct FixedParameterFit {
    double rise = 0.0;  ///< whitened cost minus the cost at the estimate
    Mechanism values;
    /// Diagonal of the inverse Schur complement with the profiled parameter fixed.
    Eigen::VectorXd conditional;
  };
  int position = 0;  ///< position of the parameter among the free parameters
  std::vector<FixedParameterFit>
      fits;  ///< in the order of ascending values, including the estimate
};

/// Computes the profiles of these parameters:
///
/// - decay rates that are at a bound, are not identifiable, or have a relative uncertainty above
///   0.25. The fixed values span the decay speeds from a hundredth of the joint's largest speed to
///   three times this speed.
/// - other parameters at a bound that affect other estimates, fixed at values inside the bound.
///
/// @param problem      problem at its optimum, with `segments` and `grid`
/// @param information  valid information matrix at the same optimum
/// @param variances    variance of the weighted residuals of each noise group
/// @param half         half-widths of the linearized 95 % intervals of all parameters
/// @param max_speed    largest speed of each joint [rad/s or m/s]
std::vector<ParameterProfile> profile_parameters(
    const ShootingProblem& problem, const std::vector<Segment>& segments, const ShootingGrid& grid,
    const ParameterInformation& information, const Eigen::VectorXd& variances,
    const Eigen::VectorXd& half, const Eigen::VectorXd& max_speed,
    const CalibrationOptions& options, const CalibrationMonitor& monitor);

/// Returns the parameter values of a profile fit whose cost is noticeably lower than the cost of
/// the estimate; nullopt if there is none.
std::optional<Mechanism> find_better_optimum(const std::vector<ParameterProfile>& profiles);

/// Widens the intervals of all parameters so that they include the profile fits. A profile fit
/// contributes its estimate and an interval around it. The interval ends where the cost has risen
/// as much as a quadratic cost rises at the end of the linearized interval.
/// @param information  valid information matrix at the estimate
/// @param half         half-widths of the linearized intervals, widened here
/// @return             one note per widened interval
std::vector<Message> widen_intervals_by_profiles(const std::vector<ParameterProfile>& profiles,
                                                 const Mechanism& mechanism,
                                                 const ParameterInformation& information,
                                                 Eigen::VectorXd& half);

}  // namespace estimator
