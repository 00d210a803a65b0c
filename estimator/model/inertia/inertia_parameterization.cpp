#include "estimator/model/inertia/inertia_parameterization.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/so3.hpp"

namespace estimator {
namespace {

constexpr int kPairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};  // of the products xy, xz, yz

constexpr double kRounding = 1e-10;  // of the largest principal value
constexpr double kGrain = 1e-4;      // [m]

SymmetricEigen3 principal(const Eigen::Matrix3d& inertia) {
  return symmetric_eigen3(inertia_to_second_moments(inertia));
}

}  // namespace

Eigen::Matrix3d inertia_to_second_moments(const Eigen::Matrix3d& inertia) {
  return 0.5 * inertia.trace() * Eigen::Matrix3d::Identity() - inertia;
}

Eigen::Matrix3d second_moments_to_inertia(const Eigen::Matrix3d& second_moments) {
  return second_moments.trace() * Eigen::Matrix3d::Identity() - second_moments;
}

Eigen::Matrix3d upper_cholesky(const Eigen::Matrix3d& sigma) {
  Eigen::Matrix3d U = Eigen::Matrix3d::Zero();
  U(2, 2) = std::sqrt(sigma(2, 2));
  U(0, 2) = sigma(0, 2) / U(2, 2);
  U(1, 2) = sigma(1, 2) / U(2, 2);
  U(1, 1) = std::sqrt(sigma(1, 1) - U(1, 2) * U(1, 2));
  U(0, 1) = (sigma(0, 1) - U(0, 2) * U(1, 2)) / U(1, 1);
  U(0, 0) = std::sqrt(sigma(0, 0) - U(0, 1) * U(0, 1) - U(0, 2) * U(0, 2));
  return U;
}

double apply_logarithm_step(double value, double step) {
  return value * (step > 0.0 ? 1.0 + step : std::exp(step));
}

SecondMomentParameterization::SecondMomentParameterization(InertiaParameterization kind,
                                                           const Eigen::Array<bool, 3, 1>& products,
                                                           const Moments& at)
    : kind_(products.all() ? kind : InertiaParameterization::kLogCholesky),
      products_(products),
      size_(3 + static_cast<int>(products.count())) {
  assert(kind != InertiaParameterization::kEntries && products.count() != 2);
  const SymmetricEigen3 eigen = symmetric_eigen3(inertia_to_second_moments(inertia_matrix(at)));
  const Eigen::Vector3d& values = eigen.values;
  floor_ = feasibility_boundary(values[2]);
  axes_ = eigen.vectors;
  if (axes_.determinant() < 0.0) axes_.col(0) *= -1.0;
  start_ = Eigen::VectorXd::Zero(size_);
  const Eigen::Vector3d raised = values.cwiseMax(floor_);
  if (kind_ == InertiaParameterization::kExponentialEigenvalue) {
    start_.head<3>() = raised.array().log();
    return;
  }
  const Eigen::Matrix3d U = upper_cholesky(axes_ * raised.asDiagonal() * axes_.transpose());
  start_.head<3>() = U.diagonal().array().log().cwiseMax(lower().head<3>().array());
  for (int product = 0, at_coordinate = 3; product < 3; ++product) {
    if (products_[product]) start_[at_coordinate++] = U(kPairs[product][0], kPairs[product][1]);
  }
}

Eigen::VectorXd SecondMomentParameterization::lower() const {
  Eigen::VectorXd lower = Eigen::VectorXd::Constant(size_, -HUGE_VAL);
  lower.head<3>().setConstant(std::log(floor_) / logarithm_derivative());
  return lower;
}

Eigen::Matrix3d SecondMomentParameterization::cholesky_triangle(
    const Eigen::VectorXd& coordinates) const {
  Eigen::Matrix3d U = Eigen::Matrix3d::Zero();
  U.diagonal() = coordinates.head<3>().array().exp();
  for (int product = 0, at = 3; product < 3; ++product) {
    if (products_[product]) U(kPairs[product][0], kPairs[product][1]) = coordinates[at++];
  }
  return U;
}

Eigen::Matrix3d SecondMomentParameterization::principal_axes(
    const Eigen::VectorXd& coordinates) const {
  return exp_so3(coordinates.tail<3>()).toRotationMatrix() * axes_;
}

Moments SecondMomentParameterization::moments_of_inertia(const Eigen::VectorXd& coordinates) const {
  Eigen::Matrix3d sigma;
  if (kind_ == InertiaParameterization::kLogCholesky) {
    const Eigen::Matrix3d U = cholesky_triangle(coordinates);
    sigma = U * U.transpose();
  } else {
    const Eigen::Matrix3d R = principal_axes(coordinates);
    const Eigen::Vector3d values = coordinates.head<3>().array().exp();
    sigma = R * values.asDiagonal() * R.transpose();
  }
  return estimator::moments_of_inertia(second_moments_to_inertia(sigma));
}

Eigen::MatrixXd SecondMomentParameterization::moment_derivatives(
    const Eigen::VectorXd& coordinates) const {
  Eigen::MatrixXd slopes(6, size_);
  const auto put = [&](int column, const Eigen::Matrix3d& sigma_slope) {
    slopes.col(column) = estimator::moments_of_inertia(second_moments_to_inertia(sigma_slope));
  };
  if (kind_ == InertiaParameterization::kLogCholesky) {
    const Eigen::Matrix3d U = cholesky_triangle(coordinates);
    const auto along = [&](int row, int column, double slope) {
      Eigen::Matrix3d change = Eigen::Matrix3d::Zero();
      change.row(row) = slope * U.col(column).transpose();
      return Eigen::Matrix3d(change + change.transpose());
    };
    for (int i = 0; i < 3; ++i) put(i, along(i, i, U(i, i)));
    for (int product = 0, at = 3; product < 3; ++product) {
      if (products_[product]) put(at++, along(kPairs[product][0], kPairs[product][1], 1.0));
    }
    return slopes;
  }
  const Eigen::Matrix3d R = principal_axes(coordinates);
  const Eigen::Vector3d values = coordinates.head<3>().array().exp();
  const Eigen::Matrix3d sigma = R * values.asDiagonal() * R.transpose();
  const Eigen::Matrix3d left = left_jacobian_inverse(coordinates.tail<3>()).inverse();
  for (int i = 0; i < 3; ++i) {
    put(i, values[i] * R.col(i) * R.col(i).transpose());
    const Eigen::Matrix3d turn = hat(left.col(i)) * sigma;
    put(3 + i, turn + turn.transpose());
  }
  return slopes;
}

Eigen::VectorXd SecondMomentParameterization::moved(const Eigen::VectorXd& coordinates,
                                                    const Eigen::VectorXd& step) const {
  Eigen::VectorXd moved = coordinates + step;
  for (int i = 0; i < 3; ++i) {
    moved[i] =
        coordinates[i] + std::log(apply_logarithm_step(1.0, logarithm_derivative() * step[i])) /
                             logarithm_derivative();
  }
  return moved;
}

bool is_physically_consistent(const Eigen::Matrix3d& inertia) {
  const Eigen::Vector3d values = principal(inertia).values;
  return values(0) >= -kRounding * values(2) && values(1) > kRounding * values(2);
}

Eigen::Matrix3d nearest_consistent_inertia_matrix(double mass, const Eigen::Matrix3d& inertia) {
  if (is_physically_consistent(inertia)) return inertia;
  const auto solved = principal(inertia);
  const Eigen::Vector3d& values = solved.values;
  const double least = std::max(kFlatnessLimit * values(2), mass * kGrain * kGrain);
  const Eigen::Vector3d raised = values.cwiseMax(least);
  const Eigen::Matrix3d moments = solved.vectors * raised.asDiagonal() * solved.vectors.transpose();
  return second_moments_to_inertia(moments);
}

}  // namespace estimator
