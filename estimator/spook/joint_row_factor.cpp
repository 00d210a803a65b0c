#include "estimator/spook/joint_row_factor.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace estimator {
namespace {

// A pivot this small relative to its original diagonal means linearly dependent rows. Twenty
// collinear links leave 1e-3 of the diagonal, a loop of rigid joints only round-off.
constexpr double kPivotTolerance = 1e-13;

}  // namespace

JointRowFactor::JointRowFactor(std::vector<int> first_block) : first_(std::move(first_block)) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < first_.size(); ++j) {
    const auto first = static_cast<std::size_t>(first_[j]);
    assert(first <= j);
    // Every earlier row has at least one block, so count ≥ j ≥ first.
    offset_.push_back(count - first);
    count += j - first + 1;
  }
  blocks_.resize(count);
  diagonal_inverse_.resize(first_.size());
  set_zero();
}

void JointRowFactor::set_zero() {
  for (Block& block : blocks_) block.setZero();
}

bool JointRowFactor::factorise() {
  for (std::size_t j = 0; j < first_.size(); ++j) {
    Block& diagonal = blocks_[offset_[j] + j];
    const Rows before = diagonal.diagonal();
    for (auto k = static_cast<std::size_t>(first_[j]); k < j; ++k) {
      Block& L_jk = blocks_[offset_[j] + k];
      for (auto m = static_cast<std::size_t>(std::max(first_[j], first_[k])); m < k; ++m) {
        L_jk.noalias() -= factor(j, m) * factor(k, m).transpose();
      }
      const Block reduced = L_jk;
      L_jk.noalias() = reduced * diagonal_inverse_[k].transpose();
      diagonal.noalias() -= L_jk * L_jk.transpose();
    }
    if (!factorise_diagonal(j)) return false;
    const Rows pivots = diagonal.diagonal().cwiseAbs2();
    if (!(pivots.array() > kPivotTolerance * before.array()).all()) return false;
  }
  return true;
}

// Cholesky factor of the 5×5 diagonal block, in place, and its inverse.
bool JointRowFactor::factorise_diagonal(std::size_t j) {
  Block& L = blocks_[offset_[j] + j];
  for (int c = 0; c < 5; ++c) {
    double pivot = L(c, c);
    for (int m = 0; m < c; ++m) pivot -= L(c, m) * L(c, m);
    if (!(pivot > 0.0)) return false;
    const double root = std::sqrt(pivot), scale = 1.0 / root;
    L(c, c) = root;
    for (int r = c + 1; r < 5; ++r) {
      double sum = L(r, c);
      for (int m = 0; m < c; ++m) sum -= L(r, m) * L(c, m);
      L(r, c) = sum * scale;
    }
  }
  Block& inverse = diagonal_inverse_[j];
  inverse.setZero();
  for (int c = 0; c < 5; ++c) {
    inverse(c, c) = 1.0 / L(c, c);
    for (int r = c + 1; r < 5; ++r) {
      double sum = 0.0;
      for (int m = c; m < r; ++m) sum -= L(r, m) * inverse(m, c);
      inverse(r, c) = sum / L(r, r);
    }
  }
  return true;
}

void JointRowFactor::solve_lower(std::vector<Rows>& x, int begin) const {
  for (auto j = static_cast<std::size_t>(begin); j < first_.size(); ++j) {
    Rows sum = x[j];
    for (auto k = static_cast<std::size_t>(std::max(first_[j], begin)); k < j; ++k) {
      sum.noalias() -= factor(j, k) * x[k];
    }
    x[j].noalias() = diagonal_inverse_[j] * sum;
  }
}

void JointRowFactor::solve_upper(std::vector<Rows>& x) const {
  for (std::size_t j = first_.size(); j-- > 0;) {
    const Rows solved = diagonal_inverse_[j].transpose() * x[j];
    x[j] = solved;
    for (auto k = static_cast<std::size_t>(first_[j]); k < j; ++k) {
      x[k].noalias() -= factor(j, k).transpose() * solved;
    }
  }
}

}  // namespace estimator
