#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "estimator/spook/step_residual.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"

namespace {

using estimator::Configuration;
using estimator::Mechanism;
using estimator::ModelValues;
using estimator::ParameterCovariance;
using estimator::ParameterInformation;
using estimator::TrajectoryData;
using estimator::TrajectoryProblem;
using estimator::TrajectorySettings;
using test_support::smooth_furuta;

constexpr double kTracedNoise = 1e-3;  // σ of every weighted residual: angles [rad], impulses/√κ

// Draws trajectories whose residuals are all independent and Gaussian with variance kTracedNoise².
// For these the covariance is exact to first order in the noise.
class MatchedData {
 public:
  MatchedData(const Mechanism& mechanism, const TrajectorySettings& settings, unsigned seed)
      : mechanism_(mechanism),
        values_(unpack(mechanism)),
        settings_(settings),
        base_(test_support::simulate_furuta(mechanism, kNodes, settings.step.step, 0.0, 3)),
        residual_(make_step_residual(mechanism, settings.step, {})),
        random_(seed) {
    controls_ = TrajectoryProblem(mechanism, {base_}, settings).step_controls(0);
    const std::vector<Eigen::Vector2d> inertias = relative_weights(mechanism, values_);
    row_scale_.resize(5 * mechanism.joint_count());
    for (int row = 0; row < row_scale_.size(); ++row) {
      row_scale_[row] = estimator::kRelativeWeight * std::sqrt(settings.state_error_weight) /
                        settings.step.step *
                        inertias[static_cast<std::size_t>(row / 5)][row % 5 < 3 ? 0 : 1];
    }
  }

  TrajectoryData draw() {
    TrajectoryData data = base_;
    data.initial = {with_violation(base_.initial[0]), with_violation(base_.initial[1])};
    const double h = settings_.step.step;
    Eigen::VectorXd v(kTangent), w(kTangent);
    for (std::size_t i = 0; i < kBodies; ++i) {
      v.segment<6>(static_cast<Eigen::Index>(6 * i)) =
          difference(data.initial[1][i], data.initial[0][i]) / h;
    }
    for (int k = 1; k + 1 < kNodes; ++k) {
      const Configuration q = data.initial.back();
      w = v;
      solve_step(q, v, k, w);
      Configuration next = q;
      for (std::size_t i = 0; i < kBodies; ++i) {
        next[i] = retract(q[i], h * w.segment<6>(static_cast<Eigen::Index>(6 * i)));
      }
      data.initial.push_back(next);
      v = w;
    }
    const auto offset = [&](int joint) {
      return mechanism_.joint_parameter(joint, estimator::JointQuantity::kEncoderOffset).value;
    };
    const Eigen::Vector2d offsets(offset(0), offset(1));
    for (int k = 0; k < kNodes; ++k) {
      data.angles.row(k) =
          (joint_angles(mechanism_, data.initial[static_cast<std::size_t>(k)]) - offsets + noise(2))
              .transpose();
    }
    return data;
  }

 private:
  static constexpr int kNodes = 120;
  static constexpr std::size_t kBodies = 2;
  static constexpr int kTangent = 12;

  Eigen::VectorXd noise(Eigen::Index size) {
    return Eigen::VectorXd::NullaryExpr(size, [&] { return kTracedNoise * normal_(random_); });
  }

  // The nearest configuration whose weighted constraint rows are a draw of the noise.
  Configuration with_violation(Configuration q) {
    const Eigen::VectorXd target = noise(row_scale_.size()).cwiseQuotient(row_scale_);
    for (int round = 0; round < 4; ++round) {
      const Eigen::MatrixXd G = constraint_jacobian(mechanism_, values_, q);
      const Eigen::VectorXd step =
          G.transpose() *
          (G * G.transpose()).ldlt().solve(target - constraint_violation(mechanism_, values_, q));
      for (std::size_t i = 0; i < kBodies; ++i) {
        q[i] = retract(q[i], step.segment<6>(static_cast<Eigen::Index>(6 * i)));
      }
    }
    return q;
  }

  // The velocity after step k whose impulse residual is a draw of the noise, by Newton's method.
  void solve_step(const Configuration& q, const Eigen::VectorXd& v, int k, Eigen::VectorXd& w) {
    const Eigen::VectorXd target = noise(kTangent) / std::sqrt(settings_.state_error_weight);
    const double control = controls_(k, 0), slope = 0.0;
    estimator::StepDerivatives derivatives;
    for (int round = 0; round < 8; ++round) {
      residual_->linearize({q.data(), v.data(), w.data(), &control, &slope}, derivatives);
      w += derivatives.along_next_velocity.partialPivLu().solve(target - derivatives.residual);
    }
    ASSERT_LT((derivatives.residual - target).norm(), 1e-9 * target.norm() + 1e-13);
  }

  const Mechanism mechanism_;
  const ModelValues values_;
  const TrajectorySettings settings_;
  const TrajectoryData base_;
  Eigen::MatrixXd controls_;
  Eigen::VectorXd row_scale_;
  std::unique_ptr<estimator::StepResidual> residual_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

TrajectorySettings weighted(double state_error_weight) {
  TrajectorySettings settings;
  settings.state_error_weight = state_error_weight;
  return settings;
}

ParameterCovariance covariance_of(const TrajectoryProblem& problem) {
  return compute_covariance(
      compute_information(problem, {.effective_parameters = false}),
      Eigen::VectorXd::Constant(problem.group_count(), kTracedNoise * kTracedNoise));
}

// Tests standard deviations: the whole pipeline of residuals, optimiser and covariance on repeated
// data of the assumed noise. With N = 240 draws the standard deviation of the pulls (estimate −
// truth)/σ has a relative standard error of 1/√(2N) = 4.6 %, their mean one of 1/√N = 6.5 % of σ,
// the coverage at 95 % one of √(.95·.05/N) = 1.4 %. For four parameters with three checks each,
// four standard errors leave a chance of 1 in 1000 that a right answer fails; the seed is fixed.
// Catches any factor in the covariance, W taken for W⁻¹, an omitted noise group, and a biased
// estimator.
TEST(TrajectoryCovariance, MatchesTheScatterOverMatchedData) {
  constexpr int kDraws = 240;
  Mechanism truth = smooth_furuta({"A.J_zz", "B.J_yy", "1.b", "1.K"});
  test_support::lift_bounds(truth);  // an estimate clipped at zero friction does not scatter
  const TrajectorySettings settings = weighted(1e4);
  MatchedData matched(truth, settings, 2024);
  Eigen::MatrixXd pulls(4, kDraws);
  Eigen::MatrixXd correlation = Eigen::MatrixXd::Zero(4, 4);
  for (int draw = 0; draw < kDraws; ++draw) {
    TrajectoryProblem problem(truth, {matched.draw()}, settings);
    const Eigen::VectorXd true_values = problem.arrow();
    ASSERT_TRUE(is_converged(solve(problem).termination)) << "draw " << draw;
    const ParameterCovariance covariance = covariance_of(problem);
    pulls.col(draw) = (problem.arrow() - true_values).cwiseQuotient(covariance.standard_deviation);
    correlation += covariance.correlation / kDraws;
  }
  const Eigen::VectorXd mean = pulls.rowwise().mean();
  const Eigen::MatrixXd centred = pulls.colwise() - mean;
  const Eigen::MatrixXd scatter = centred * centred.transpose() / (kDraws - 1);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(std::sqrt(scatter(i, i)), 1.0, 4.0 / std::sqrt(2.0 * kDraws)) << "parameter " << i;
    EXPECT_NEAR(mean[i], 0.0, 4.0 / std::sqrt(kDraws)) << "parameter " << i;
    const double covered =
        static_cast<double>((pulls.row(i).array().abs() < 1.96).count()) / kDraws;
    EXPECT_NEAR(covered, 0.95, 4.0 * std::sqrt(0.95 * 0.05 / kDraws)) << "parameter " << i;
    for (int j = 0; j < i; ++j) {
      // The standard error of a sample correlation is at most 1/√N.
      EXPECT_NEAR(scatter(i, j) / std::sqrt(scatter(i, i) * scatter(j, j)), correlation(i, j),
                  4.0 / std::sqrt(kDraws));
    }
  }
}

// All blocks of a problem stacked densely: nodes before parameters.
Eigen::MatrixXd dense_jacobian(const TrajectoryProblem& problem) {
  const estimator::ArrowLayout layout = problem.layout();
  const int nodes = layout.node_count * layout.node_size;
  Eigen::MatrixXd J(0, nodes + layout.arrow_size);
  estimator::ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    const Eigen::Index row = J.rows();
    J.conservativeResize(row + block.rows, Eigen::NoChange);
    J.bottomRows(block.rows).setZero();
    const int columns = block.node_span * layout.node_size;
    J.block(row, block.first_node * layout.node_size, block.rows, columns) =
        block.node_jacobian.topLeftCorner(block.rows, columns);
    J.block(row, nodes, block.rows, layout.arrow_size) = block.arrow_jacobian.topRows(block.rows);
  }
  return J;
}

// The covariance of the parameters is a corner of the pseudo-inverse of JᵀJ, computed here by a
// complete orthogonal decomposition of J, without that product. The condition number of J reaches
// 1e6 on this problem, so the normal equations may cost half the digits: 1e-5.
TEST(TrajectoryCovariance, IsTheCornerOfTheDensePseudoInverse) {
  const Mechanism mechanism = test_support::furuta_with_12_parameters();
  const TrajectorySettings settings = weighted(1e4);
  const TrajectoryProblem problem(
      mechanism,
      {test_support::simulate_furuta(mechanism, 40, settings.step.step, kTracedNoise, 4)},
      settings);
  const ParameterCovariance covariance = covariance_of(problem);
  const Eigen::MatrixXd J = dense_jacobian(problem);
  const Eigen::VectorXd unit = J.colwise().norm().cwiseInverse();
  const Eigen::MatrixXd inverse =
      unit.asDiagonal() *
      Eigen::MatrixXd((J * unit.asDiagonal()).completeOrthogonalDecomposition().pseudoInverse());
  const Eigen::MatrixXd rows = inverse.bottomRows(12);
  const Eigen::MatrixXd expected = kTracedNoise * kTracedNoise * rows * rows.transpose();
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(covariance.standard_deviation[i] / std::sqrt(expected(i, i)), 1.0, 1e-5) << i;
    for (int j = 0; j < i; ++j) {
      const double scale = std::sqrt(expected(i, i) * expected(j, j));
      EXPECT_NEAR(covariance.correlation(i, j), expected(i, j) / scale, 1e-5) << i << ", " << j;
    }
  }
}

// Viscous friction and back-EMF act only as the sum b + K k_e. The trade-off must be found as the
// one null direction, with the ratio K, and the solver must converge in spite of it.
TEST(TrajectoryCovariance, FindsTheTradeOffOfFrictionAgainstBackEmf) {
  Mechanism truth = smooth_furuta({"A.J_zz", "B.J_yy", "1.b", "1.k_e"});
  truth.joint_parameter(0, estimator::JointQuantity::kBackEmf).value = 0.02;
  Mechanism start = truth;
  test_support::disturb_parameters(start, 1.2);
  const TrajectorySettings settings = weighted(1e4);
  const double K = truth.joint_parameter(0, estimator::JointQuantity::kMotorGain).value;
  TrajectoryProblem problem(
      start, {test_support::simulate_furuta(truth, 200, settings.step.step, kTracedNoise, 6)},
      settings);
  const estimator::LmSummary summary = solve(problem);
  EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_LE(summary.iterations, 10);
  const ParameterInformation information = compute_information(problem);
  ASSERT_EQ(information.null_directions.cols(), 1);
  const Eigen::VectorXd direction = information.null_directions.col(0);
  EXPECT_NEAR(direction[2] / direction[3], -K, 1e-6 * K);
  EXPECT_LT(direction.head(2).norm(), 1e-6 * direction.norm());
  EXPECT_EQ(information.undetermined, (std::vector<bool>{false, false, true, true}));
  const Eigen::VectorXd sigma = covariance_of(problem).standard_deviation;
  EXPECT_TRUE(std::isfinite(sigma[0]) && std::isfinite(sigma[1]));
  EXPECT_TRUE(std::isinf(sigma[2]) && std::isinf(sigma[3]));
}

}  // namespace
