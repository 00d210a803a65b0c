#include "estimator/model/possible_inertia.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace estimator {
namespace {

constexpr double kRounding = 1e-10;   // of the largest principal value
constexpr double kLeastShare = 1e-6;  // of the same
constexpr double kGrain = 1e-4;       // [m]

Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> second_moments(const Eigen::Matrix3d& inertia) {
  const Eigen::Matrix3d moments = 0.5 * inertia.trace() * Eigen::Matrix3d::Identity() - inertia;
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(moments);
}

}  // namespace

bool is_possible_inertia(const Eigen::Matrix3d& inertia) {
  const Eigen::Vector3d values = second_moments(inertia).eigenvalues();
  return values(0) >= -kRounding * values(2) && values(1) > kRounding * values(2);
}

Eigen::Matrix3d possible_inertia(double mass, const Eigen::Matrix3d& inertia) {
  if (is_possible_inertia(inertia)) return inertia;
  const auto solved = second_moments(inertia);
  const Eigen::Vector3d& values = solved.eigenvalues();
  const double least = std::max(kLeastShare * values(2), mass * kGrain * kGrain);
  const Eigen::Vector3d raised = values.cwiseMax(least);
  const Eigen::Matrix3d moments =
      solved.eigenvectors() * raised.asDiagonal() * solved.eigenvectors().transpose();
  return moments.trace() * Eigen::Matrix3d::Identity() - moments;
}

}  // namespace estimator
