#include "estimator/model/inertia/consistent_inertia.hpp"

#include <algorithm>

#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"

namespace estimator {
namespace {

constexpr double kRounding = 1e-10;  // of the largest principal value
constexpr double kGrain = 1e-4;      // [m]

SymmetricEigen3 principal(const Eigen::Matrix3d& inertia) {
  return symmetric_eigen3(second_moments(inertia));
}

}  // namespace

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
  return inertia_from(moments);
}

}  // namespace estimator
