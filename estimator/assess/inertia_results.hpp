#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/model/inertia_chart.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Refuses a body that has a drawing and is not possible as it stands: no cost tells how to go on.
/// @throws std::invalid_argument naming the body
void require_possible_starts(const Mechanism& mechanism);

/// A charted body whose best estimate would be none that can exist, or hardly.
struct BorderBody {
  int body = 0;
  std::string sentence;  ///< which way it is thin, and whether the data ask for what cannot be
};

/// Fixes charted bodies at the border to where they are: those as flat as an estimate goes
/// (`is_at_border`), and those on the way there, whose second moment a full step would take below
/// zero. What is known of everything else is so if they are there, as with a parameter at a bound.
///
/// @param estimated    parameters of `information`, in its order
/// @param information  at the estimates; its inverse is changed
/// @param variances    of the weighted residuals of each noise group
std::vector<BorderBody> hold_at_borders(const Mechanism& mechanism,
                                        const std::vector<int>& estimated,
                                        const Eigen::VectorXd& variances,
                                        ParameterInformation& information);

/// Principal moments of bodies with a free moment, those left out that turn about one axis or none:
/// the others of theirs are not seen.
/// @param borders  bodies at the border
std::vector<PrincipalInertia> principal_inertias(const Mechanism& mechanism,
                                                 const std::vector<int>& asked,
                                                 const Uncertainty& uncertainty,
                                                 const std::vector<BorderBody>& borders);

/// A body that can exist and contradicts the data least.
struct NearestBody {
  Moments moments;
  double cost = 0.0;  ///< by which it raises χ², all other parameters following
};

/// @param moments     of a body that may not exist
/// @param covariance  of them, zero of those that are held
/// @return nothing where those that may move cannot make it possible
std::optional<NearestBody> nearest_body(const Moments& moments,
                                        const Eigen::Matrix<double, 6, 6>& covariance);

/// A sentence for each body that cannot exist, as motion sees it: the nearest one that can, and
/// what that costs.
std::vector<std::string> tell_impossible(const Mechanism& mechanism,
                                         const std::vector<int>& estimated,
                                         const ParameterInformation& information);

}  // namespace estimator
