#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/model/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Rejects an inconsistent initial inertia of a body with a CAD prior, whose cost is infinite.
/// @throws std::invalid_argument naming the body
void require_consistent_initial_inertias(const Mechanism& mechanism);

/// A body whose inertia is estimated at the feasibility boundary (`has_inertia_parameterization`).
struct BoundaryBody {
  int body = 0;
  std::string sentence;  ///< direction in which it is thin, and whether the optimum is inconsistent
};

/// Fixes bodies with `has_inertia_parameterization` at the feasibility boundary: bodies that are
/// planar within tolerance (`is_at_feasibility_boundary`), and bodies for which a full step would
/// make a second moment negative. The uncertainty of all other parameters assumes this, as for a
/// parameter at a bound.
///
/// @param estimated    parameters of `information`, in its order
/// @param information  at the estimates; its inverse is changed
/// @param variances    of the weighted residuals of each noise group
std::vector<BoundaryBody> fix_at_feasibility_boundary(const Mechanism& mechanism,
                                                      const std::vector<int>& estimated,
                                                      const Eigen::VectorXd& variances,
                                                      ParameterInformation& information);

/// Returns the principal moments of bodies with a free moment. Skips bodies that turn about one
/// axis or not at all, since their other moments are not identifiable.
/// @param borders  bodies at the feasibility boundary
std::vector<PrincipalInertia> principal_inertias(const Mechanism& mechanism,
                                                 const std::vector<int>& requested,
                                                 const Uncertainty& uncertainty,
                                                 const std::vector<BoundaryBody>& borders);

/// The physically consistent inertia that fits the data best.
struct NearestInertia {
  Moments moments;
  double cost = 0.0;  ///< increase of χ², with all other parameters re-optimised
};

/// Returns the physically consistent inertia nearest to an estimate, weighted by its covariance.
/// @param moments     of a body, possibly inconsistent
/// @param covariance  of the moments, zero for fixed ones
/// @return nothing if the free moments cannot make the inertia consistent
std::optional<NearestInertia> nearest_consistent_inertia(
    const Moments& moments, const Eigen::Matrix<double, 6, 6>& covariance);

/// Returns one sentence per body with an inconsistent inertia, as far as its motion depends on it:
/// the nearest consistent inertia, and its cost.
std::vector<std::string> describe_inconsistent_inertias(const Mechanism& mechanism,
                                                        const std::vector<int>& estimated,
                                                        const ParameterInformation& information);

}  // namespace estimator
