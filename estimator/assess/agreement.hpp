#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/evidence.hpp"

namespace estimator {

/// Agreement is rejected where pieces that agree would differ as much once in a hundred times:
/// clean data then hardly ever pay for the scatter of a few pieces.
inline constexpr double kDisagreementLevel = 0.01;

/// What one piece says of the parameters where the fit stands, its own states eliminated.
struct PieceScore {
  Eigen::VectorXd score;        ///< g = −Tᵀr, half the descent of the piece's cost
  Eigen::MatrixXd information;  ///< H = TᵀT
  Eigen::MatrixXd noise;        ///< covariance of g by noise alone; H where residuals are white
};

/// What pieces say together. With H_0 the information of priors, H = Σ H_p + H_0 and z any
/// parameters:
///
///   d = H⁺ (Σ g_p + g_0), how far the pieces' estimate lies from that of the whole,
///   Q = min_z Σ (g_p − H_p z)ᵀ C_p⁺ (g_p − H_p z), Cochran's [Coc54], on Σ rank C_p − rank H,
///   V = (P−1)/P Σ e_p e_pᵀ with e_p = (H − H_p)⁺ (g_p − H_p d), the delete-one jackknife [Wu86].
///
/// Where pieces are parts of what was fitted in one, d is no more than noise either: Q grows by
/// dᵀ (H⁺ Σ C_p H⁺)⁺ d and its degrees of freedom by rank H, a test against the whole as of
/// [Hau78] that is on the safe side, since whole and parts share noise.
///
/// Directions of which a piece holds next to no information take no part in its share of Q, and
/// none that one piece alone tells in V.
struct PieceComparison {
  Agreement agreement;
  Eigen::VectorXd shift;     ///< d
  Eigen::MatrixXd scatter;   ///< V + d dᵀ: squared distance between pieces' say and the estimate
  Eigen::VectorXd partners;  ///< by how many pieces each parameter is told, effectively
  Eigen::MatrixXd noise;     ///< covariance of d by noise alone, were the whole another sample
  std::vector<Eigen::VectorXd> estimates;   ///< H_p⁺ g_p: what is to be added to the parameters
  std::vector<Eigen::VectorXd> deviations;  ///< of these; NaN where the piece cannot tell
};

/// @param pieces  two or more, of the same parameters
/// @param prior_information  H_0, prior_score g_0: what is known beside the pieces
/// @param cut  whether what was fitted in one was cut
PieceComparison compare_pieces(const std::vector<PieceScore>& pieces,
                               const Eigen::MatrixXd& prior_information,
                               const Eigen::VectorXd& prior_score, bool cut);

}  // namespace estimator
