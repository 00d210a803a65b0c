#include "estimator/optimize/covariance.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/math/decompositions.hpp"

namespace estimator {

NodeTraceEstimator::NodeTraceEstimator(const ArrowheadMatrix& factor, int noise_group_count)
    : factor_(factor),
      right_side_(Eigen::MatrixXd::Zero(factor.band_row_count(), noise_group_count * kProbes)),
      squares_(Eigen::VectorXd::Zero(noise_group_count * kProbes)) {}

void NodeTraceEstimator::add(const ResidualBlock& block) {
  if (block.node_span == 0) return;
  const ProblemShape& shape = factor_.shape();
  // Later blocks do not end earlier, so none starts more than bandwidth before this block's end.
  const int last = block.first_node + block.node_span - 1;
  while (first_ < last - shape.bandwidth) eliminate_first_node();

  signs_.resize(block.rows, kProbes);
  for (Eigen::Index row = 0; row < block.rows; ++row) {
    std::uint64_t bits = random_();
    for (int probe = 0; probe < kProbes; ++probe, bits >>= 1U) {
      signs_(row, probe) = (bits & 1U) != 0 ? 1.0 : -1.0;
    }
  }
  const int width = block.node_span * shape.node_size;
  const int offset = (block.first_node - first_) * shape.node_size;
  assert(offset >= 0);
  right_side_.block(offset, block.group * kProbes, width, kProbes).noalias() +=
      block.node_jacobian.topLeftCorner(block.rows, width).transpose() * signs_;
}

Eigen::VectorXd NodeTraceEstimator::compute_traces() {
  while (first_ < factor_.shape().node_count) eliminate_first_node();
  const Eigen::Index groups = squares_.size() / kProbes;
  return squares_.reshaped(kProbes, groups).colwise().mean().transpose();
}

void NodeTraceEstimator::eliminate_first_node() {
  const int s = factor_.shape().node_size;
  const int below = factor_.band_row_count() - s;
  const ConstMatrixView band = factor_.band(first_);
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> panel(
      band.data, factor_.band_row_count(), s, Eigen::OuterStride<>(band.stride));
  auto y = right_side_.topRows(s);
  panel.topRows(s).triangularView<Eigen::Lower>().solveInPlace(y);
  squares_ += y.colwise().squaredNorm().transpose();
  right_side_.bottomRows(below).noalias() -= panel.bottomRows(below) * y;
  right_side_.topRows(below) = right_side_.bottomRows(below).eval();
  right_side_.bottomRows(s).setZero();
  ++first_;
}

namespace {

// Damping relative to the diagonal of H, needed only because of round-off.
constexpr double kLeastDamping = 1e-14;
constexpr double kLargestDamping = 1e-6;

// A parameter has no effect if ‖T‖² is below this fraction of ‖J_χ‖² in its column: 12 digits.
constexpr double kNullSensitivity = 1e-24;

// Smallest component in a scaled null direction with which a parameter counts as part of it.
constexpr double kNullEigenvalueFraction = 1e-3;

/// Computes the derivative X = −H_xx⁻¹ H_xχ of the optimal nodes by the parameters. Back
/// substitution with a factor L, R of ArrowheadFactorization runs from the last node to the first
/// and keeps only a window of bandwidth + 1 nodes.
class NodeResponse {
 public:
  /// Starts with the window after the last node.
  explicit NodeResponse(const ArrowheadMatrix& factor)
      : factor_(factor),
        first_(factor.shape().node_count),
        X_(Eigen::MatrixXd::Zero(factor.band_row_count(), factor.shape().parameter_count)) {}

  /// Moves the window back until it starts at `node`, which must not be after its present start.
  void advance_to(int node) {
    assert(node >= 0);
    while (first_ > node) step_back();
  }

  /// Returns the rows of X for `node_span` nodes from `first_node` on, all in the window.
  Eigen::Block<const Eigen::MatrixXd> response(int first_node, int node_span) const {
    const int s = factor_.shape().node_size;
    const int offset = (first_node - first_) * s;
    assert(offset >= 0 && offset + node_span * s <= X_.rows());
    return X_.block(offset, 0, node_span * s, X_.cols());
  }

 private:
  // With L on the diagonal of a node, B below it, and X̃ of the later nodes: Lᵀ X = −Rᵀ − Bᵀ X̃.
  void step_back() {
    --first_;
    const int s = factor_.shape().node_size;
    const int below = factor_.band_row_count() - s;
    const ConstMatrixView band = factor_.band(first_);
    const ConstMatrixView arrow = factor_.arrow(first_);
    using Map = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
    const Map panel(band.data, factor_.band_row_count(), s, Eigen::OuterStride<>(band.stride));
    const Map R(arrow.data + 1, factor_.shape().parameter_count, s,
                Eigen::OuterStride<>(arrow.stride));
    const auto L = panel.topRows(s).triangularView<Eigen::Lower>();
    const auto B = panel.bottomRows(below);

    X_.bottomRows(below) = X_.topRows(below).eval();
    X_.topRows(s).noalias() = -R.transpose();
    X_.topRows(s).noalias() -= B.transpose() * X_.bottomRows(below);
    if (X_.cols() > 0)
      L.transpose().solveInPlace(X_.topRows(s));  // Eigen would read a first element
  }

  const ArrowheadMatrix& factor_;
  int first_;          // first node of the window
  Eigen::MatrixXd X_;  // window x parameter_count
};

// Accumulates S per group, and the rows and costs of the groups.
void accumulate_blocks(const LeastSquaresProblem& problem, const ArrowheadMatrix& factor,
                       ParameterInformation& information) {
  const int p = factor.shape().parameter_count;
  const int s = factor.shape().node_size;
  const auto noise_group_count = static_cast<std::size_t>(problem.noise_group_count());
  information.groups.assign(noise_group_count, {});
  information.group_schur.assign(noise_group_count, Eigen::MatrixXd::Zero(p, p));
  information.group_score.assign(noise_group_count, Eigen::VectorXd::Zero(p));
  NodeResponse nodes(factor);
  ResidualBlock block;
  Eigen::MatrixXd T;
  for (int index = problem.block_count() - 1; index >= 0; --index) {
    problem.linearize(index, block);
    const auto group = static_cast<std::size_t>(block.group);
    assert(group < noise_group_count);
    NoiseGroupStatistics& statistics = information.groups[group];
    statistics.rows += block.rows - block.noiseless_rows;
    statistics.cost += block.residual.head(block.rows).squaredNorm();
    T = block.parameter_jacobian.topLeftCorner(block.rows, p);
    if (block.node_span > 0) {
      nodes.advance_to(block.first_node);
      const auto J_x = block.node_jacobian.topLeftCorner(block.rows, block.node_span * s);
      T.noalias() += J_x * nodes.response(block.first_node, block.node_span);
    }
    information.group_schur[group].noalias() += T.transpose() * T;
    information.group_score[group].noalias() -= T.transpose() * block.residual.head(block.rows);
  }
}

// Adds the contributions of nodes and parameters to the trace of the hat matrix.
void count_effective_parameters(const LeastSquaresProblem& problem, const ArrowheadMatrix& factor,
                                ParameterInformation& information) {
  NodeTraceEstimator trace(factor, problem.noise_group_count());
  ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    trace.add(block);
  }
  const Eigen::VectorXd of_nodes = trace.compute_traces();
  for (std::size_t g = 0; g < information.groups.size(); ++g) {
    information.groups[g].effective_parameters =
        of_nodes[g] + information.inverse.cwiseProduct(information.group_schur[g]).sum();
  }
}

// Splits the free parameters into parameters with and without effect. The latter are null
// directions.
void split_free(const ParameterInformation& information, std::vector<int>& seen,
                std::vector<int>& unseen) {
  for (int i = 0; i < information.scale.size(); ++i) {
    if (information.at_bound[i] != 0) continue;
    const bool is_seen = information.schur(i, i) > kNullSensitivity * information.scale[i];
    (is_seen ? seen : unseen).push_back(i);
  }
}

// Reduces a basis of the null space to column echelon form, with full pivoting on scaled entries.
// The resulting directions involve as few parameters as possible.
void reduce_to_echelon(Eigen::MatrixXd& basis) {
  std::vector<bool> used(static_cast<std::size_t>(basis.rows()), false);
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {
    Eigen::Index pivot_row = 0;
    Eigen::Index pivot_column = k;
    double largest = 0.0;
    for (Eigen::Index j = k; j < basis.cols(); ++j) {
      for (Eigen::Index i = 0; i < basis.rows(); ++i) {
        if (used[i] || std::abs(basis(i, j)) <= largest) continue;
        largest = std::abs(basis(i, j));
        pivot_row = i;
        pivot_column = j;
      }
    }
    used[pivot_row] = true;
    basis.col(k).swap(basis.col(pivot_column));
    basis.col(k) /= basis(pivot_row, k);
    for (Eigen::Index j = 0; j < basis.cols(); ++j) {
      if (j != k) basis.col(j) -= basis(pivot_row, j) * basis.col(k);
    }
  }
}

// Computes the inverse over the determined directions, and the null directions.
void analyse_spectrum(ParameterInformation& information) {
  const Eigen::Index p = information.scale.size();
  std::vector<int> seen, unseen;
  split_free(information, seen, unseen);
  information.inverse = Eigen::MatrixXd::Zero(p, p);
  information.undetermined.assign(static_cast<std::size_t>(p), false);

  Eigen::Index weak = 0;
  Eigen::MatrixXd weak_basis;
  if (!seen.empty()) {
    const Eigen::MatrixXd S = information.schur(seen, seen);
    const Eigen::VectorXd unit = S.diagonal().cwiseSqrt().cwiseInverse();
    const SymmetricEigen eigen = symmetric_eigen(unit.asDiagonal() * S * unit.asDiagonal());
    const Eigen::VectorXd& values = eigen.values;
    while (weak < values.size() && values[weak] < information.null_eigenvalue) ++weak;
    const Eigen::Index strong = values.size() - weak;
    const Eigen::MatrixXd V = unit.asDiagonal() * eigen.vectors.rightCols(strong);
    information.inverse(seen, seen) =
        V * values.tail(strong).cwiseInverse().asDiagonal() * V.transpose();
    weak_basis = eigen.vectors.leftCols(weak);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      const double share = weak_basis.row(k).norm();
      information.undetermined[seen[k]] = share > kNullEigenvalueFraction;
    }
    reduce_to_echelon(weak_basis);
    weak_basis = (weak_basis.array().abs() < kNullEigenvalueFraction).select(0.0, weak_basis);
    weak_basis = unit.asDiagonal() * weak_basis;
    for (Eigen::Index j = 0; j < weak; ++j) {
      weak_basis.col(j) /= weak_basis.col(j).lpNorm<Eigen::Infinity>();
    }
  }

  const auto unseen_count = static_cast<Eigen::Index>(unseen.size());
  information.null_directions = Eigen::MatrixXd::Zero(p, weak + unseen_count);
  for (Eigen::Index j = 0; j < unseen_count; ++j) {
    information.null_directions(unseen[j], j) = 1.0;
    information.undetermined[unseen[j]] = true;
  }
  for (std::size_t k = 0; k < seen.size(); ++k) {
    information.null_directions.row(seen[k]).tail(weak) = weak_basis.row(k);
  }
}

}  // namespace

ParameterInformation compute_information(const LeastSquaresProblem& problem,
                                         const InformationOptions& options) {
  const ProblemShape shape = problem.shape();
  ParameterInformation information;
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  double damping = kLeastDamping;
  while (!factor.factorize(problem, damping)) {
    damping *= 100.0;
    if (damping > kLargestDamping) return information;
  }
  information.valid = true;
  const Eigen::VectorXd chi = problem.parameter_values();
  const Eigen::VectorXd lower = problem.lower_bounds();
  const Eigen::VectorXd upper = problem.upper_bounds();
  information.at_bound = Eigen::VectorXi::Zero(shape.parameter_count);
  for (int i = 0; i < shape.parameter_count; ++i) {
    information.at_bound[i] = chi[i] <= lower[i] ? -1 : (chi[i] >= upper[i] ? 1 : 0);
  }
  accumulate_blocks(problem, factor.factor(), information);
  information.scale = factor.parameter_diagonal();
  information.null_eigenvalue = options.null_eigenvalue;
  recompute_information(information);
  if (options.effective_parameters) {
    count_effective_parameters(problem, factor.factor(), information);
  }
  return information;
}

void recompute_information(ParameterInformation& information) {
  const Eigen::Index p = information.scale.size();
  information.schur = Eigen::MatrixXd::Zero(p, p);
  for (const Eigen::MatrixXd& part : information.group_schur) information.schur += part;
  analyse_spectrum(information);
}

Eigen::VectorXd compute_total_score(const ParameterInformation& information) {
  Eigen::VectorXd score = Eigen::VectorXd::Zero(information.schur.rows());
  for (const Eigen::VectorXd& part : information.group_score) score += part;
  return score;
}

Eigen::MatrixXd compute_score_covariance(const ParameterInformation& information,
                                         const Eigen::VectorXd& group_variance) {
  assert(information.valid);
  assert(group_variance.size() == static_cast<Eigen::Index>(information.group_schur.size()));
  const Eigen::Index p = information.schur.rows();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(p, p);
  for (std::size_t g = 0; g < information.group_schur.size(); ++g) {
    sum += group_variance[g] * information.group_schur[g];
  }
  return sum;
}

ParameterCovariance compute_covariance(const ParameterInformation& information,
                                       const Eigen::VectorXd& group_variance) {
  const Eigen::MatrixXd middle = compute_score_covariance(information, group_variance);
  const Eigen::Index p = information.schur.rows();
  ParameterCovariance result;
  result.covariance = information.inverse * middle * information.inverse;
  const Eigen::VectorXd sigma = result.covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
  result.correlation = Eigen::MatrixXd::Identity(p, p);
  result.standard_deviation = sigma;
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = 0; j < p; ++j) {
      const double product = sigma[i] * sigma[j];
      if (i != j && product > 0.0) result.correlation(i, j) = result.covariance(i, j) / product;
    }
    if (information.undetermined[i]) {
      result.standard_deviation[i] = std::numeric_limits<double>::infinity();
    }
  }
  return result;
}

}  // namespace estimator
