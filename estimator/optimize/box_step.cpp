#include "estimator/optimize/box_step.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

// Returns the nearest matrix to S whose eigenvalues reach the floor; S itself if they already do.
Eigen::MatrixXd with_eigenvalue_floor(const Eigen::MatrixXd& S) {
  const SymmetricEigen eigen = symmetric_eigen(S);
  const Eigen::VectorXd& values = eigen.values;
  const double largest = values[values.size() - 1];
  if (!(largest > 0.0)) return Eigen::MatrixXd::Identity(S.rows(), S.cols());
  const double floor = kEigenvalueFloor * largest;
  if (values[0] >= floor) return S;
  const Eigen::MatrixXd& V = eigen.vectors;
  return V * values.cwiseMax(floor).asDiagonal() * V.transpose();
}

// Active-set iteration on the scaled problem. The point stays feasible, and each full step
// minimizes over the free unknowns. A bound is released only at such a minimum, and only if its
// multiplier shows descent inward. Simple bounds are linearly independent, so the iteration cannot
// cycle.
class ActiveSet {
 public:
  ActiveSet(const Eigen::MatrixXd& S, const Eigen::VectorXd& s, const Eigen::VectorXd& lower,
            const Eigen::VectorXd& upper)
      : S_(S), s_(s), lower_(lower), upper_(upper) {
    x_ = Eigen::VectorXd::Zero(s.size()).cwiseMax(lower).cwiseMin(upper);
    at_bound_ = Eigen::VectorXi::Zero(s.size());
    for (int i = 0; i < s.size(); ++i) {
      if (lower[i] == upper[i]) at_bound_[i] = 1;
    }
  }

  void minimize() {
    // Each pass fixes or releases one bound; in practice a few passes suffice.
    const int limit = 100 + 20 * static_cast<int>(s_.size());
    for (int pass = 0; pass < limit; ++pass) {
      if (step_to_free_minimum()) continue;
      if (!release_bound()) return;
    }
  }

  const Eigen::VectorXi& at_bound() const { return at_bound_; }
  const Eigen::VectorXd& point() const { return x_; }

 private:
  // Moves to the minimum over the free set, or to the first bound on the way and returns true.
  bool step_to_free_minimum() {
    std::vector<int> free;
    for (int i = 0; i < x_.size(); ++i) {
      if (at_bound_[i] == 0) free.push_back(i);
    }
    if (free.empty()) return false;
    const Eigen::VectorXd gradient = S_ * x_ + s_;
    const Eigen::VectorXd direction = -SymmetricFactor(S_(free, free)).solve(gradient(free));
    double fraction = 1.0;
    int blocking = -1;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const int i = free[k];
      const double d = direction[k];
      const double room = d < 0.0 ? lower_[i] - x_[i] : upper_[i] - x_[i];
      if (d != 0.0 && std::abs(room) < fraction * std::abs(d)) {
        fraction = std::abs(room / d);
        blocking = i;
      }
    }
    double blocking_direction = 0.0;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const int i = free[k];
      const double d = direction[k];
      x_[i] = std::clamp(x_[i] + fraction * d, lower_[i], upper_[i]);
      if (i == blocking) blocking_direction = d;
    }
    if (blocking < 0) return false;
    at_bound_[blocking] = blocking_direction < 0.0 ? -1 : 1;
    x_[blocking] = blocking_direction < 0.0 ? lower_[blocking] : upper_[blocking];
    return true;
  }

  // Releases the bound with the steepest inward descent; returns false at the optimum.
  bool release_bound() {
    const Eigen::VectorXd gradient = S_ * x_ + s_;
    // Round-off of the terms in the gradient.
    const Eigen::VectorXd noise = 1e-14 * (S_.cwiseAbs() * x_.cwiseAbs() + s_.cwiseAbs());
    int released = -1;
    double steepest = 0.0;
    for (int i = 0; i < x_.size(); ++i) {
      if (at_bound_[i] == 0 || lower_[i] == upper_[i]) continue;
      const double inward_slope = at_bound_[i] < 0 ? -gradient[i] : gradient[i];
      if (inward_slope > std::max(steepest, noise[i])) {
        steepest = inward_slope;
        released = i;
      }
    }
    if (released < 0) return false;
    at_bound_[released] = 0;
    return true;
  }

  const Eigen::MatrixXd& S_;
  const Eigen::VectorXd& s_;
  const Eigen::VectorXd& lower_;
  const Eigen::VectorXd& upper_;
  Eigen::VectorXd x_;
  Eigen::VectorXi at_bound_;
};

}  // namespace

BoundedStep solve_bounded_step(const Eigen::MatrixXd& S, const Eigen::VectorXd& s,
                               const Eigen::VectorXd& scale, const Eigen::VectorXd& lower,
                               const Eigen::VectorXd& upper) {
  assert(S.rows() == s.size() && S.cols() == s.size() && scale.size() == s.size());
  assert((lower.array() <= upper.array()).all());
  BoundedStep result;
  if (s.size() == 0) return result;
  const Eigen::VectorXd root = scale.cwiseSqrt();
  const Eigen::VectorXd inverse_root = root.cwiseInverse();
  const Eigen::MatrixXd scaled_S =
      with_eigenvalue_floor(inverse_root.asDiagonal() * S * inverse_root.asDiagonal());
  const Eigen::VectorXd scaled_s = s.cwiseProduct(inverse_root);
  const Eigen::VectorXd scaled_lower = lower.cwiseProduct(root);
  const Eigen::VectorXd scaled_upper = upper.cwiseProduct(root);
  ActiveSet active_set(scaled_S, scaled_s, scaled_lower, scaled_upper);
  active_set.minimize();

  result.at_bound = active_set.at_bound();
  result.step = active_set.point().cwiseProduct(inverse_root);
  for (int i = 0; i < s.size(); ++i) {
    if (result.at_bound[i] < 0) result.step[i] = lower[i];
    if (result.at_bound[i] > 0) result.step[i] = upper[i];
    result.step[i] = std::clamp(result.step[i], lower[i], upper[i]);
  }
  return result;
}

}  // namespace estimator
