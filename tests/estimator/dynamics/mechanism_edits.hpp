#pragma once

#include <utility>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Names a hinge's child as its parent and its parent as its child: the same joint, whose angle is
/// the opposite.
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
