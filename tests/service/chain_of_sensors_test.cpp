// Inertial sensors, from rig file and recording to estimates, checked with independent data.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/evaluation_truth.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

// Three links, the first with an encoder. Three sensors of unknown place, mounting and biases
// determine the others' motion, to the noise of the unused encoders, and every constant is within
// its standard deviation. The initial state is not given.
TEST(ChainOfSensors, InertialSensorsReplaceEncoders) {
  const auto data = test_support::find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const double counts = 2.0 * M_PI / 4096 / std::sqrt(12.0);
  for (const auto& [variant, noise] : {std::pair{"noise", 1e-3}, std::pair{"quant", counts}}) {
    for (const std::string set : {"chain3imu_base", "chain3imu_rand1"}) {
      SCOPED_TRACE(set + " " + variant);
      const auto truth = test_support::true_parameters(*data, set);
      Rig rig = load_rig(test_support::source_folder() + "/configs/rig-chain3imu.textproto");
      for (const char* const mass : {"link1.m", "link2.m", "link3.m"}) {
        test_support::parameter_of(rig.mechanism, mass).value = truth.at(mass);
      }
      rig.mechanism.held_out = {"h2", "h3"};
      const std::filesystem::path file =
          *data / "synthetic_planar" / (set + "__" + variant + ".csv");
      const estimator::Calibration result =
          estimator::calibrate(rig.mechanism, {import_csv(file.string(), *rig.format).recording});
      EXPECT_TRUE(result.converged());
      ASSERT_EQ(result.held_out.size(), 2U);
      for (const estimator::HeldOutSensor& sensor : result.held_out) {
        EXPECT_LT(sensor.rmse, 1.1 * noise) << sensor.name;
      }
      EXPECT_EQ(result.parameters.size(), 28U);
      for (const estimator::ParameterEstimate& estimate : result.parameters) {
        EXPECT_LT(std::abs(estimate.value - truth.at(estimate.name)),
                  3.0 * estimate.standard_deviation)
            << estimate.name;
      }
    }
  }
}

}  // namespace
}  // namespace service
