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
  estimator::Mechanism defaults = mechanism;
  estimator::make_parameters(defaults);
  const auto own = defaults.parameters.begin() + index;
  mechanism.parameters.insert(mechanism.parameters.begin() + index, own,
                              own + estimator::Mechanism::kEncoderParameters);
  mechanism.parameters[index].value = offset;
  mechanism.parameters[index].free = true;
}

}  // namespace test_support
