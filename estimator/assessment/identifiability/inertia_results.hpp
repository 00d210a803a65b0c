#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Checks that all bodies with a CAD prior have a physically consistent initial inertia; otherwise
/// the cost of the prior is infinite.
/// @throws std::invalid_argument naming the body with an inconsistent inertia
void require_consistent_initial_inertias(const Mechanism& mechanism);

/// A body whose estimated inertia lies at the limit of physically consistent inertias, so that the
/// body is planar or rod-like (see `has_inertia_parameterization`).
struct BodyAtFeasibilityBoundary {
  int body = 0;
  /// Note about the direction in which the body is thin, and whether the unconstrained optimum is
  /// physically inconsistent.
  Message note;
};

/// Fixes the inertias of bodies at the limit of physical consistency (feasibility boundary) in the
/// information matrix. Applies to bodies with `has_inertia_parameterization` that are nearly planar
/// (`is_at_feasibility_boundary`), or whose second moment a full Gauss–Newton step would make
/// negative. As for a parameter at a bound, the uncertainty of all other parameters then assumes
/// these inertias.
/// @param estimated    parameters of `information`, in its order
/// @param information  information at the estimates; its inverse is updated
/// @param variances    variance of the weighted residuals of each noise group
std::vector<BodyAtFeasibilityBoundary> fix_inertias_at_feasibility_boundary(
    const Mechanism& mechanism, const std::vector<int>& estimated, const Eigen::VectorXd& variances,
    ParameterInformation& information);

/// Returns the principal moments of inertia of all bodies with a free moment of inertia. Skips
/// bodies that do not rotate or rotate about a single axis only, since their other moments are not
/// identifiable.
/// @param boundary_bodies  result of `fix_inertias_at_feasibility_boundary`
std::vector<PrincipalInertia> compute_principal_inertias(
    const Mechanism& mechanism, const std::vector<int>& requested,
    const ParameterUncertainty& uncertainty,
    const std::vector<BodyAtFeasibilityBoundary>& boundary_bodies);

/// The physically consistent inertia of a body that fits the data best.
struct NearestConsistentInertia {
  Moments moments;
  /// Increase of the cost over the unconstrained fit, with all other parameters re-optimised.
  double cost = 0.0;
};

/// Returns the physically consistent inertia nearest to an estimated inertia. The distance is
/// weighted by the inverse covariance of the estimate.
/// @param moments     estimated moments of inertia of a body, possibly inconsistent
/// @param covariance  covariance of `moments`, zero for fixed moments
/// @return nullopt if no values of the free moments make the inertia consistent
std::optional<NearestConsistentInertia> find_nearest_consistent_inertia(
    const Moments& moments, const Eigen::Matrix<double, 6, 6>& covariance);

/// Returns one note per body with a physically inconsistent inertia that affects its motion. The
/// note contains the nearest consistent inertia and the cost increase.
std::vector<Message> describe_inconsistent_inertias(const Mechanism& mechanism,
                                                    const std::vector<int>& estimated,
                                                    const ParameterInformation& information);

}  // namespace estimator
