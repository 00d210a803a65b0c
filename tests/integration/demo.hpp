#pragma once

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>

#include "proto/calibration.pb.h"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/texts.hpp"

// The demo of scripts/demo.sh in a short form.

namespace service {

/// The demo's rig file, with time limits for a loaded machine.
inline std::string patient_rig() {
  return test_support::replaced(contents_of(config("rig-furuta.textproto")),
                                "staleness_ms_max: 250", "staleness_ms_max: 2000");
}

/// One of the demo's scenarios, shortened.
inline std::string short_scenario(const std::string& name, const std::string& duration_s) {
  std::string text = contents_of(config("scenario-" + name + ".textproto"));
  const std::size_t value = text.find("duration_s: ") + std::string("duration_s: ").size();
  return text.replace(value, text.find('\n', value) - value, duration_s);
}

/// Reads a result and expects the parameters of sim-furuta.textproto, to `sigma_max` standard
/// deviations.
inline rigcal::v1::CalibrationResult expect_simulated_parameters(const std::string& json_path,
                                                                 double sigma_max) {
  const std::map<std::string, double> truths = {
      {"A.J_zz", 0.0044},        {"B.J_yy", 0.00396},       {"B.J_zz", 0.0039},  {"1.b", 0.001},
      {"2.b", 0.0001},           {"1.tau_c", 0.004},        {"2.tau_c", 0.0009}, {"1.K", 0.0729},
      {"gravity.tilt_x", 0.006}, {"gravity.tilt_z", -0.004}};
  rigcal::v1::CalibrationResult result;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(contents_of(json_path), &result).ok());
  EXPECT_EQ(static_cast<std::size_t>(result.parameters_size()), truths.size());
  for (const auto& parameter : result.parameters()) {
    const double truth = truths.at(parameter.name());
    const double error = (parameter.value() - truth) / parameter.standard_deviation();
    std::cout << parameter.name() << ": " << error << " standard deviations\n";
    EXPECT_LE(std::abs(error), sigma_max) << parameter.name();
    // An interval that contains any value would prove nothing.
    EXPECT_LT(parameter.standard_deviation(), 0.1 * std::abs(truth)) << parameter.name();
  }
  return result;
}

}  // namespace service
