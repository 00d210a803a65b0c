#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/parameters.hpp"

namespace test_support {

/// Returns the bodies and joints of two links in series in a rig file.
/// @param first, second  elements of the two joints: friction, motor, encoder
inline std::string two_links(const std::string& first, const std::string& second) {
  return R"(
body { name: "A" mass { value: 0.5 }
  inertia { xx { value: 0.001 } yy { value: 0.004 } zz { value: 0.004 } } }
body { name: "B" mass { value: 0.3 }
  inertia { xx { value: 0.001 } yy { value: 0.002 } zz { value: 0.002 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  )" + first +
         R"( }
joint { name: "2"
  parent { body: "A" point { x { value: 0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  )" + second +
         " }\n";
}

/// Returns a run of the scenario by the equations of motion, read back through the rig's columns.
inline estimator::Recording simulated_recording(const service::Rig& rig,
                                                const std::string& scenario, double step = 1e-3) {
  const service::SimulatedRun run =
      simulate(rig, service::parse_scenario("s.textproto", scenario, rig), step, nullptr,
               service::Integrator::kPhysical);
  return service::import_csv_text("run.csv", simulation_csv(rig, run), *rig.format).recording;
}

/// Frees parameters and sets their initial values.
inline void set_free(service::Rig& rig,
                     const std::vector<std::pair<std::string, double>>& initial_values) {
  for (const auto& [name, value] : initial_values) {
    estimator::Parameter& parameter = parameter_of(rig.mechanism, name);
    parameter.free = true;
    parameter.value = value;
  }
}

/// Calibrates without comparing parts of the recording.
inline estimator::Calibration calibrate_whole(const service::Rig& rig,
                                              const estimator::Recording& recording) {
  estimator::CalibrationOptions options;
  options.compare_parts = false;
  return estimator::calibrate(rig.mechanism, {recording}, options);
}

/// Expects that the calibration converged and every estimate is within four standard deviations of
/// its true value.
inline void expect_truth(const estimator::Calibration& found, const estimator::Mechanism& truth) {
  EXPECT_TRUE(found.converged());
  for (const estimator::ParameterEstimate& estimate : found.parameters) {
    EXPECT_NEAR(estimate.value, parameter_of(truth, estimate.name).value,
                4.0 * estimate.standard_deviation)
        << estimate.name;
  }
}

}  // namespace test_support
