#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Meaning of a parameter index in a mechanism with only revolute joints. The parameter belongs to
/// a body, a joint or the world, or it does not affect the motion.
struct ParameterTarget {
  enum class Kind { kBody, kJoint, kWorld, kElsewhere } kind;
  int element;   ///< body or joint index
  int quantity;  ///< BodyQuantity, JointQuantity or WorldQuantity
};

inline ParameterTarget parameter_target(const Mechanism& mechanism, int index) {
  const int joint_begin = mechanism.body_count() * Mechanism::kBodyQuantities;
  const int world_begin = joint_begin + mechanism.joint_count() * Mechanism::kJointQuantities;
  if (index < joint_begin) {
    return {ParameterTarget::Kind::kBody, index / Mechanism::kBodyQuantities,
            index % Mechanism::kBodyQuantities};
  }
  if (index < world_begin) {
    return {ParameterTarget::Kind::kJoint, (index - joint_begin) / Mechanism::kJointQuantities,
            (index - joint_begin) % Mechanism::kJointQuantities};
  }
  if (index < world_begin + Mechanism::kWorldQuantities) {
    return {ParameterTarget::Kind::kWorld, 0, index - world_begin};
  }
  return {ParameterTarget::Kind::kElsewhere, 0, 0};
}

/// Returns whether the parameter is a coordinate of a joint point.
inline bool is_point(const ParameterTarget& target) {
  return target.kind == ParameterTarget::Kind::kJoint &&
         target.quantity <= static_cast<int>(JointQuantity::kPointBz);
}

}  // namespace estimator
