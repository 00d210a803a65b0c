#pragma once

#include <utility>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Exchanges parent and child of a joint in its description: the same joint, with opposite angle.
inline void describe_from_child(estimator::Mechanism& mechanism, int index) {
  estimator::Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(index)];
  std::swap(hinge.body_a, hinge.body_b);
  std::swap(hinge.frame_a, hinge.frame_b);
  for (const auto& [on_a, on_b] :
       {std::pair{estimator::HingeQuantity::kPointAx, estimator::HingeQuantity::kPointBx},
        {estimator::HingeQuantity::kPointAy, estimator::HingeQuantity::kPointBy},
        {estimator::HingeQuantity::kPointAz, estimator::HingeQuantity::kPointBz}}) {
    std::swap(mechanism.hinge_parameter(index, on_a).value,
              mechanism.hinge_parameter(index, on_b).value);
  }
}

}  // namespace test_support
