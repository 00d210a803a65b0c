#pragma once

#include <utility>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Exchanges parent and child body in the description of a joint. It remains the same joint, but
/// its angle changes sign.
inline void describe_from_child(estimator::Mechanism& mechanism, int index) {
  estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(index)];
  std::swap(joint.body_a, joint.body_b);
  std::swap(joint.frame_a, joint.frame_b);
  for (const auto& [on_a, on_b] :
       {std::pair{estimator::JointQuantity::kPointAx, estimator::JointQuantity::kPointBx},
        {estimator::JointQuantity::kPointAy, estimator::JointQuantity::kPointBy},
        {estimator::JointQuantity::kPointAz, estimator::JointQuantity::kPointBz}}) {
    std::swap(mechanism.joint_parameter(index, on_a).value,
              mechanism.joint_parameter(index, on_b).value);
  }
}

}  // namespace test_support
