#include "estimator/assessment/model_test/score_step.hpp"

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr double kMinEigenvalue = 1e-9;  // least identifiable eigenvalue, for a unit diagonal

}  // namespace

ScoreStep step_along(const ParameterInformation& information, const Eigen::MatrixXd& spread,
                     const std::vector<int>& taken) {
  const Eigen::MatrixXd S = information.schur(taken, taken);
  const Eigen::VectorXd b = total_score(information)(taken);
  const Eigen::VectorXd scale =
      (S.diagonal().array() > 0.0).select(S.diagonal().cwiseSqrt().cwiseInverse(), 0.0);
  const SymmetricEigen solved = symmetric_eigen(scale.asDiagonal() * S * scale.asDiagonal());
  ScoreStep step;
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(S.rows(), S.rows());
  for (Eigen::Index k = 0; k < b.size(); ++k) {
    const double eigenvalue = solved.values[k];
    if (!(eigenvalue > kMinEigenvalue)) continue;
    const Eigen::VectorXd direction = scale.asDiagonal() * solved.vectors.col(k);
    inverse += direction * direction.transpose() / eigenvalue;
    ++step.rank;
  }
  step.change = inverse * b;
  step.decrease = b.dot(step.change);
  const Eigen::MatrixXd covariance = inverse * spread(taken, taken) * inverse;
  step.deviation = covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
  return step;
}

}  // namespace estimator
