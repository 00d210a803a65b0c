#pragma once

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Target of a parameter index in a mechanism with revolute joints only: one quantity of one body,
/// one joint or the world, or a parameter without effect on the motion.
struct ParameterTarget {
  enum class Kind { kBody, kHinge, kWorld, kElsewhere } kind;
  int element;   ///< body or joint index
  int quantity;  ///< BodyQuantity, HingeQuantity or WorldQuantity
};

inline ParameterTarget parameter_target(const Mechanism& mechanism, int index) {
  const int hinge_begin = mechanism.body_count() * Mechanism::kBodyQuantities;
  const int world_begin = hinge_begin + mechanism.hinge_count() * Mechanism::kHingeQuantities;
  if (index < hinge_begin) {
    return {ParameterTarget::Kind::kBody, index / Mechanism::kBodyQuantities,
            index % Mechanism::kBodyQuantities};
  }
  if (index < world_begin) {
    return {ParameterTarget::Kind::kHinge, (index - hinge_begin) / Mechanism::kHingeQuantities,
            (index - hinge_begin) % Mechanism::kHingeQuantities};
  }
  if (index < world_begin + Mechanism::kWorldQuantities) {
    return {ParameterTarget::Kind::kWorld, 0, index - world_begin};
  }
  return {ParameterTarget::Kind::kElsewhere, 0, 0};
}

/// True for a coordinate of a joint point.
inline bool is_point(const ParameterTarget& target) {
  return target.kind == ParameterTarget::Kind::kHinge &&
         target.quantity <= static_cast<int>(HingeQuantity::kPointBz);
}

}  // namespace estimator
