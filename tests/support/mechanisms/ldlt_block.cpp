#include "tests/support/mechanisms/ldlt_block.hpp"

#include <cassert>

namespace estimator {

using Eigen::Index;

BlockLdlt::BlockLdlt(const Eigen::MatrixXd& S, const std::vector<int>& block_sizes) {
  assert(S.rows() == S.cols());
  offsets_.push_back(0);
  for (const int size : block_sizes) offsets_.push_back(offsets_.back() + size);
  const Index a = offsets_.back(), b = S.rows() - a;
  assert(b >= 0);
  const std::size_t pivots = block_sizes.size();
  std::vector<Index> edges = offsets_;  // of all blocks, the last one included
  edges.push_back(a + b);
  const auto size = [&](std::size_t i) { return edges[i + 1] - edges[i]; };

  Eigen::MatrixXd work = S;  // lower blocks are reduced in place, right-looking
  L_ = Eigen::MatrixXd::Zero(a + b, a);
  for (std::size_t j = 0; j < pivots; ++j) {
    D_.emplace_back(work.block(edges[j], edges[j], size(j), size(j)));
    if (!D_.back().isInvertible()) {
      ok_ = false;
      return;
    }
    std::vector<std::size_t> below;  // blocks of this column that are not zero
    for (std::size_t i = j + 1; i <= pivots; ++i) {
      const auto block = work.block(edges[i], edges[j], size(i), size(j));
      if (size(i) == 0 || block.isZero(0.0)) continue;
      // L_ij = W_ij D_jj⁻¹; D_jj is symmetric.
      L_.block(edges[i], edges[j], size(i), size(j)) =
          D_.back().solve(block.transpose()).transpose();
      below.push_back(i);
    }
    for (const std::size_t i : below) {
      for (const std::size_t k : below) {
        if (k > i) continue;
        work.block(edges[i], edges[k], size(i), size(k)).noalias() -=
            L_.block(edges[i], edges[j], size(i), size(j)) *
            work.block(edges[k], edges[j], size(k), size(j)).transpose();
      }
    }
  }
  schur_complement_ = work.bottomRightCorner(b, b);
}

Eigen::VectorXd BlockLdlt::solve_lower(const Eigen::VectorXd& r) const {
  assert(ok_ && r.size() == L_.rows());
  Eigen::VectorXd y = r;
  for (std::size_t j = 0; j + 1 < offsets_.size(); ++j) {
    const Index begin = offsets_[j], end = offsets_[j + 1], rest = y.size() - end;
    y.tail(rest) -= L_.block(end, begin, rest, end - begin) * y.segment(begin, end - begin);
  }
  return y;
}

Eigen::VectorXd BlockLdlt::solve_upper(const Eigen::VectorXd& y_A,
                                       const Eigen::VectorXd& lambda_B) const {
  assert(ok_ && y_A.size() == L_.cols() && lambda_B.size() == L_.rows() - L_.cols());
  Eigen::VectorXd lambda(L_.rows());
  lambda.tail(lambda_B.size()) = lambda_B;
  for (std::size_t j = offsets_.size() - 1; j-- > 0;) {
    const Index begin = offsets_[j], end = offsets_[j + 1], rest = lambda.size() - end;
    lambda.segment(begin, end - begin) =
        D_[j].solve(y_A.segment(begin, end - begin)) -
        L_.block(end, begin, rest, end - begin).transpose() * lambda.tail(rest);
  }
  return lambda.head(L_.cols());
}

}  // namespace estimator
