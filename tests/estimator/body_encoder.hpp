#pragma once

#include <string>

#include "estimator/model/encoder.hpp"

namespace test_support {

/// Adds an encoder between two bodies, with a free offset [rad], to a mechanism that already has
/// its parameters.
inline void add_body_encoder(estimator::Mechanism& mechanism, const std::string& name, int body_a,
                             int body_b, double offset) {
  const int index =
      mechanism.body_encoder_parameter_index(mechanism.count_encoders_between_bodies(), {});
  mechanism.body_encoders.push_back({name, body_a, body_b});
  estimator::Parameter parameter{.name = name + ".offset", .unit = "rad", .value = offset};
  parameter.free = true;
  mechanism.parameters.insert(mechanism.parameters.begin() + index, parameter);
  const estimator::Parameter delay{
      .name = name + ".encoder_delay", .unit = "s", .lower = -0.05, .upper = 0.05};
  mechanism.parameters.insert(mechanism.parameters.begin() + index + 1, delay);
}

}  // namespace test_support
