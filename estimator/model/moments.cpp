#include "estimator/model/moments.hpp"

namespace estimator {

Moments moments_of(const Eigen::Matrix3d& inertia) {
  Moments moments;
  moments << inertia.diagonal(), inertia(0, 1), inertia(0, 2), inertia(1, 2);
  return moments;
}

std::array<int, 6> moment_indices(const Mechanism& mechanism, int body) {
  std::array<int, 6> indices;
  for (int i = 0; i < 6; ++i) {
    const auto quantity = static_cast<BodyQuantity>(static_cast<int>(BodyQuantity::kJxx) + i);
    indices[static_cast<std::size_t>(i)] = mechanism.index(body, quantity);
  }
  return indices;
}

Moments moments_of(const Mechanism& mechanism, int body) {
  const std::array<int, 6> indices = moment_indices(mechanism, body);
  Moments moments;
  for (int i = 0; i < 6; ++i) {
    const int index = indices[static_cast<std::size_t>(i)];
    moments[i] = mechanism.parameters[static_cast<std::size_t>(index)].value;
  }
  return moments;
}

}  // namespace estimator
