#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/assessment_results.hpp"

namespace estimator {

/// Significance level of the consistency test between parts of the recordings: at 1 %, intervals of
/// correct models are rarely inflated by the scatter of a few parts.
inline constexpr double kConsistencyLevel = 0.01;

/// Score and information of one part of the recordings at the fit, its initial states eliminated.
struct PartScore {
  Eigen::VectorXd score;        ///< g = −Tᵀr, half the negative gradient of its cost
  Eigen::MatrixXd information;  ///< H = TᵀT
  Eigen::MatrixXd noise;        ///< covariance of g by noise alone; H for white residuals
};

/// Comparison of the parts of the recordings. With H_0 the information of priors, H = Σ H_p + H_0
/// and z arbitrary parameters:
///
///   d = H⁺ (Σ g_p + g_0), difference between the parts' joint estimate and the fit of the whole,
///   Q = min_z Σ (g_p − H_p z)ᵀ C_p⁺ (g_p − H_p z), Cochran's [Coc54], Σ rank C_p − rank H d.o.f.,
///   V = (P−1)/P Σ e_p e_pᵀ with e_p = (H − H_p)⁺ (g_p − H_p d), the delete-one jackknife [Wu86].
///
/// If the recordings were fitted as a whole and then cut, d should also be within noise: Q grows by
/// dᵀ (H⁺ Σ C_p H⁺)⁺ d and its degrees of freedom by rank H. This test against the whole, as in
/// [Hau78], is conservative because whole and parts share noise.
///
/// Directions on which a part has almost no information are left out of its share of Q. Directions
/// that only one part identifies are left out of V.
struct PartComparison {
  ConsistencyTest agreement;
  Eigen::VectorXd shift;    ///< d
  Eigen::MatrixXd scatter;  ///< V + d dᵀ: squared distance of the parts from the estimate
  Eigen::VectorXd effective_part_count;  ///< effective number of parts that identify each parameter
  Eigen::MatrixXd noise;  ///< covariance of d by noise alone if the whole were another sample
  std::vector<Eigen::VectorXd> estimates;  ///< H_p⁺ g_p: correction of the parameters by each part
  std::vector<Eigen::VectorXd> deviations;  ///< standard deviations of these; NaN: not identifiable
};

/// Compares the estimates from parts of the recordings.
/// @param pieces  two or more, for the same parameters
/// @param prior_information  H_0, prior_score g_0: of the priors
/// @param cut  whether segments that were fitted as a whole were cut
PartComparison compare_parts(const std::vector<PartScore>& pieces,
                             const Eigen::MatrixXd& prior_information,
                             const Eigen::VectorXd& prior_score, bool cut);

}  // namespace estimator
