#include "estimator/assessment/part_consistency.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/distributions.hpp"

namespace estimator {
namespace {

constexpr double kUnseen = 1e-10;      // least relative eigenvalue of the scaled information
constexpr double kSeenShare = 1e-3;    // least share of the information in a direction
constexpr double kOthersShare = 0.05;  // least share of all other parts

/// Returns a matrix B with Bᵀ H B = 1 over the identifiable directions of the information matrix H.
/// The pseudo-inverse of H is B Bᵀ.
Eigen::MatrixXd whitening_basis(const Eigen::MatrixXd& H) {
  if (H.rows() == 0) return H;
  const Eigen::VectorXd scale = H.diagonal().unaryExpr(
      [](double value) { return value > 0.0 ? 1.0 / std::sqrt(value) : 0.0; });
  const SymmetricEigen eigen = symmetric_eigen(scale.asDiagonal() * H * scale.asDiagonal());
  const Eigen::VectorXd& values = eigen.values;
  const double least = kUnseen * values[values.size() - 1];
  const auto seen = static_cast<Eigen::Index>(
      std::ranges::count_if(values, [&](double value) { return value > least; }));
  return scale.asDiagonal() * eigen.vectors.rightCols(seen) *
         values.tail(seen).cwiseSqrt().cwiseInverse().asDiagonal();
}

/// The score and information of one part, in coordinates with total information 1.
struct WhitePart {
  Eigen::VectorXd score;
  Eigen::MatrixXd information, noise;
  Eigen::VectorXd shares;  ///< part's share of the total information in each direction, 0 to 1
  Eigen::MatrixXd directions;

  WhitePart(const RecordingPartScore& part, const Eigen::MatrixXd& B)
      : score(B.transpose() * part.score),
        information(B.transpose() * part.information * B),
        noise(B.transpose() * part.noise * B) {
    const SymmetricEigen eigen = symmetric_eigen(information);
    shares = eigen.values.cwiseMax(0.0);
    directions = eigen.vectors;
  }

  Eigen::MatrixXd seen() const {
    return directions.rightCols(
        std::ranges::count_if(shares, [](double share) { return share > kSeenShare; }));
  }
};

ConsistencyTest cochran_test(const std::vector<WhitePart>& parts, Eigen::Index size) {
  Eigen::MatrixXd N = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(size);
  struct SeenPart {
    Eigen::MatrixXd D;
    Eigen::VectorXd g;
    SymmetricFactor C;
  };
  std::vector<SeenPart> seen;
  double rows = 0.0;
  for (const WhitePart& part : parts) {
    const Eigen::MatrixXd E = part.seen();
    if (E.cols() == 0) continue;
    seen.push_back({E.transpose() * part.information, E.transpose() * part.score,
                    SymmetricFactor(E.transpose() * part.noise * E)});
    const auto& [D, g, C] = seen.back();
    N += D.transpose() * C.solve(D);
    b += D.transpose() * C.solve(g);
    rows += static_cast<double>(E.cols());
  }
  const Eigen::MatrixXd B = whitening_basis(N);
  ConsistencyTest agreement;
  agreement.degrees_of_freedom = rows - static_cast<double>(B.cols());
  if (!(agreement.degrees_of_freedom > 0.0)) return agreement;
  // The difference of two sums of squares would lose all digits of a small Q.
  const Eigen::VectorXd z = B * (B.transpose() * b);
  agreement.statistic = 0.0;
  for (const auto& [D, g, C] : seen) {
    const Eigen::VectorXd residual = g - D * z;
    agreement.statistic += residual.dot(C.solve(residual));
  }
  return agreement;
}

/// Adds the test of the shift d between the joint estimate of all parts and the fit of the whole.
/// Leaves out directions that priors alone determine: their noise is zero, so rounding errors of
/// the shift would look significant.
void add_shift_of_whole(const Eigen::VectorXd& d, const Eigen::MatrixXd& noise,
                        ConsistencyTest& agreement) {
  const SymmetricEigen eigen = symmetric_eigen(noise);
  for (Eigen::Index i = 0; i < d.size(); ++i) {
    if (!(eigen.values[i] > kSeenShare)) continue;
    agreement.statistic += std::pow(eigen.vectors.col(i).dot(d), 2) / eigen.values[i];
    agreement.degrees_of_freedom += 1.0;
  }
}

/// Returns (1 − A)⁻¹ for the whitened information matrix A of a part, without the directions that
/// only this part identifies.
Eigen::MatrixXd leave_one_out_inverse(const WhitePart& part) {
  const Eigen::VectorXd gain = part.shares.unaryExpr(
      [](double share) { return 1.0 - share > kOthersShare ? 1.0 / (1.0 - share) : 0.0; });
  return part.directions * gain.asDiagonal() * part.directions.transpose();
}

/// Stores the change of the parameters if fitted to this part alone, with standard deviations, in
/// parameter units.
/// @param own  diagonal of the part's information matrix in parameter units
void store_estimate(const WhitePart& part, const Eigen::VectorXd& own, const Eigen::MatrixXd& B,
                    RecordingPartComparison& result) {
  const Eigen::VectorXd inverse =
      part.shares.unaryExpr([](double share) { return share > kSeenShare ? 1.0 / share : 0.0; });
  const Eigen::MatrixXd A =
      B * part.directions * inverse.asDiagonal() * part.directions.transpose();
  const Eigen::MatrixXd missing =
      B * part.directions *
      inverse.unaryExpr([](double value) { return value > 0.0 ? 0.0 : 1.0; }).asDiagonal();
  Eigen::VectorXd deviation = (A * part.noise * A.transpose()).diagonal().cwiseSqrt();
  for (Eigen::Index i = 0; i < deviation.size(); ++i) {
    // Unidentified directions of the part would add at least this uncertainty. A parameter that
    // affects none of its readings only moves with others through the other parts.
    const double least = missing.row(i).norm() / std::sqrt(kSeenShare);
    if (!(least < deviation[i]) || !(own[i] > 0.0))
      deviation[i] = std::numeric_limits<double>::quiet_NaN();
  }
  result.estimates.push_back(A * part.score);
  result.deviations.push_back(deviation);
}

}  // namespace

RecordingPartComparison compare_part_scores(const std::vector<RecordingPartScore>& parts,
                                            const Eigen::MatrixXd& prior_information,
                                            const Eigen::VectorXd& prior_score, bool cut) {
  assert(parts.size() >= 2);
  Eigen::MatrixXd H = prior_information;
  for (const RecordingPartScore& part : parts) H += part.information;
  const Eigen::MatrixXd B = whitening_basis(H);
  std::vector<WhitePart> white;
  for (const RecordingPartScore& part : parts) white.emplace_back(part, B);

  Eigen::VectorXd d = B.transpose() * prior_score;
  for (const WhitePart& part : white) d += part.score;
  RecordingPartComparison result;
  result.agreement = cochran_test(white, B.cols());
  result.shift = B * d;
  const auto count = static_cast<double>(parts.size());
  Eigen::MatrixXd V = Eigen::MatrixXd::Zero(B.cols(), B.cols()), noise = V;
  Eigen::VectorXd shares = Eigen::VectorXd::Zero(H.rows()), squares = shares;
  for (std::size_t p = 0; p < white.size(); ++p) {
    const WhitePart& part = white[p];
    const Eigen::VectorXd e = leave_one_out_inverse(part) * (part.score - part.information * d);
    V += (count - 1.0) / count * e * e.transpose();
    noise += part.noise;
    const Eigen::VectorXd share = (B * part.information * B.transpose()).diagonal();
    shares += share;
    squares += share.cwiseAbs2();
    store_estimate(part, parts[p].information.diagonal(), B, result);
  }
  if (cut) add_shift_of_whole(d, noise, result.agreement);
  result.agreement.p_value =
      chi_square_tail_probability(result.agreement.statistic, result.agreement.degrees_of_freedom);
  result.scatter = B * (V + d * d.transpose()) * B.transpose();
  result.noise = B * noise * B.transpose();
  result.effective_part_count =
      (squares.array() > 0.0).select(shares.cwiseAbs2().array() / squares.array(), 0.0);
  return result;
}

}  // namespace estimator
