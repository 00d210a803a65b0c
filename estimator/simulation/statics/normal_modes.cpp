#include "estimator/simulation/statics/normal_modes.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr double kNeutralShare = 1e-6;  // of the largest ω²; finite differences leave 1e-9 of it
constexpr double kNeutralRate = 1e-6;   // [1/s²]
constexpr double kMassless = 1e-12;     // of the largest pivot

}  // namespace

bool is_neutral(const NormalMode& mode, const std::vector<NormalMode>& all) {
  double largest = 0.0;
  for (const NormalMode& each : all) largest = std::max(largest, std::abs(each.rate_squared));
  return std::abs(mode.rate_squared) <= std::max(kNeutralRate, kNeutralShare * largest);
}

std::vector<NormalMode> normal_modes(const Mechanism& mechanism, const Statics::Local& local) {
  std::vector<NormalMode> modes;
  const Eigen::VectorXd pivots = SymmetricFactor(local.mass).pivots();
  if (pivots.size() == 0 || !(pivots.minCoeff() > kMassless * pivots.maxCoeff())) return modes;
  const SymmetricEigen solved = generalized_eigen(local.stiffness, local.mass);
  for (Eigen::Index k = 0; k < pivots.size(); ++k) {
    Eigen::VectorXd shape = local.motions * solved.vectors.col(k);
    double largest = 0.0;  // signed
    for (Eigen::Index j = 0; j < shape.size(); ++j) {
      const double part = shape[j] / mechanism.joints[static_cast<std::size_t>(j)].units().scale;
      if (std::abs(part) > std::abs(largest) * (1.0 + 1e-9)) largest = part;
    }
    shape /= largest;
    modes.push_back({solved.values[k], shape});
  }
  return modes;
}

}  // namespace estimator
