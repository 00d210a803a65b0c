#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/calibration.hpp"

namespace estimator {

/// Significance level of the consistency test between parts of the recordings. At 1 %, the scatter
/// of a few parts rarely inflates the intervals of correct models.
inline constexpr double kConsistencyLevel = 0.01;

/// The gradient and the information matrix of one part of the recordings at the fitted parameters,
/// after elimination of the part's initial states.
struct RecordingPartScore {
  Eigen::VectorXd score;        ///< g = −Tᵀr, half the negative cost gradient of the part
  Eigen::MatrixXd information;  ///< information matrix H = TᵀT
  /// Covariance of the score due to noise alone; equal to the information matrix for white
  /// residuals.
  Eigen::MatrixXd noise;
};

/// The comparison of estimates from parts of the recordings. Part p has the score g_p, the
/// information matrix H_p and the score covariance C_p (see RecordingPartScore); the priors have
/// g_0 and H_0. With P parts, H = Σ H_p + H_0 and arbitrary parameters z:
///
///   d = H⁺ (Σ g_p + g_0), difference between the parts' joint estimate and the fit of the whole,
///   Q = min_z Σ (g_p − H_p z)ᵀ C_p⁺ (g_p − H_p z), Cochran's [Coc54], Σ rank C_p − rank H d.o.f.,
///   V = (P−1)/P Σ e_p e_pᵀ with e_p = (H − H_p)⁺ (g_p − H_p d), the delete-one jackknife [Wu86].
///
/// If the recordings were fitted as a whole and then cut, d should also be within noise. Q then
/// includes dᵀ (H⁺ Σ C_p H⁺)⁺ d, with rank Σ C_p more degrees of freedom. This test against the
/// whole, as in [Hau78], is conservative because whole and parts share noise.
///
/// The contribution of a part to Q omits parameter directions that the part hardly identifies. V
/// omits directions that only one part identifies.
struct RecordingPartComparison {
  ConsistencyTest agreement;
  Eigen::VectorXd shift;    ///< d, change of the parameters from the fit of the whole
  Eigen::MatrixXd scatter;  ///< V + d dᵀ: squared distance of the parts from the estimate
  Eigen::VectorXd effective_part_count;  ///< effective number of parts that identify each parameter
  /// Covariance of the shift d due to noise alone, as if the whole and its parts were independent
  /// samples.
  Eigen::MatrixXd noise;
  /// Change of the parameters in a fit to each part alone, H_p⁺ g_p.
  std::vector<Eigen::VectorXd> estimates;
  /// Standard deviations of `estimates`; NaN if not identifiable.
  std::vector<Eigen::VectorXd> deviations;
};

/// Compares the estimates from parts of the recordings.
/// @param parts  two or more parts with the same parameters
/// @param prior_information  information matrix of the priors, with the gradient `prior_score`
/// @param cut  whether segments that were fitted as a whole were cut into parts
RecordingPartComparison compare_part_scores(const std::vector<RecordingPartScore>& parts,
                                            const Eigen::MatrixXd& prior_information,
                                            const Eigen::VectorXd& prior_score, bool cut);

}  // namespace estimator
