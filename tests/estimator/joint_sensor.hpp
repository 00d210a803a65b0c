#pragma once

#include <vector>

#include "estimator/model/encoder.hpp"

namespace test_support {

/// Returns an unnamed encoder for each of the given joints.
inline std::vector<estimator::Encoder> joint_sensors(const std::vector<int>& joints) {
  std::vector<estimator::Encoder> sensors;
  for (const int j : joints) {
    sensors.push_back({{}, estimator::JointKind::kRevolute, {{j, 1.0}}, 0});
  }
  return sensors;
}

}  // namespace test_support
