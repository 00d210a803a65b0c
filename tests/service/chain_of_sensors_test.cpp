// Inertial sensors, from rig file and recording to estimates, checked with independent data.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

/// True parameters of one set of the evaluation data (its truth.json); masses are given.
struct ChainTruth {
  const char* set;
  double masses[3];
  std::map<std::string, double> values;
};

const ChainTruth kTruths[] = {{"base",
                               {0.3, 0.25, 0.2},
                               {{"link1.J_zz", 0.0015625},
                                {"link2.J_zz", 0.0008333333333},
                                {"link3.J_zz", 0.00054},
                                {"h1.b", 0.0003},
                                {"h1.tau_c", 0.0012},
                                {"h1.K", 0.12},
                                {"h2.b", 0.0003},
                                {"h2.tau_c", 0.0012},
                                {"h3.b", 0.0003},
                                {"h3.tau_c", 0.0012},
                                {"imu1.p_x", -0.0486164984},
                                {"imu1.p_y", 0.009590704973},
                                {"imu1.mount_z", -0.02198463372},
                                {"imu1.gyro_bias_z", -0.008812437926},
                                {"imu1.accel_bias_x", 0.02488453416},
                                {"imu1.accel_bias_y", 0.06895031934},
                                {"imu2.p_x", 0.003663348289},
                                {"imu2.p_y", -0.008634800218},
                                {"imu2.mount_z", 0.002773184254},
                                {"imu2.gyro_bias_z", -0.00166857089},
                                {"imu2.accel_bias_x", -0.02243417668},
                                {"imu2.accel_bias_y", -0.1105003602},
                                {"imu3.p_x", 0.03513636481},
                                {"imu3.p_y", -0.002662689781},
                                {"imu3.mount_z", 0.0441100589},
                                {"imu3.gyro_bias_z", 0.004429774362},
                                {"imu3.accel_bias_x", -0.07304228048},
                                {"imu3.accel_bias_y", 0.1006960992}}},
                              {"rand1",
                               {0.297109422, 0.2365880841, 0.2465174642},
                               {{"link1.J_zz", 0.001100534316},
                                {"link2.J_zz", 0.0006947792304},
                                {"link3.J_zz", 0.0006015573065},
                                {"h1.b", 0.0003669221712},
                                {"h1.tau_c", 0.0009754174067},
                                {"h1.K", 0.1268581886},
                                {"h2.b", 0.0003520826292},
                                {"h2.tau_c", 0.001197457849},
                                {"h3.b", 0.0003001719424},
                                {"h3.tau_c", 0.00112917646},
                                {"imu1.p_x", -0.00872063371},
                                {"imu1.p_y", -0.004401514897},
                                {"imu1.mount_z", 0.07965311723},
                                {"imu1.gyro_bias_z", 0.001793671112},
                                {"imu1.accel_bias_x", 0.006893386691},
                                {"imu1.accel_bias_y", 0.07655469045},
                                {"imu2.p_x", -0.02066076826},
                                {"imu2.p_y", 0.004609298568},
                                {"imu2.mount_z", -0.02000621393},
                                {"imu2.gyro_bias_z", -0.0181284856},
                                {"imu2.accel_bias_x", -0.1151041155},
                                {"imu2.accel_bias_y", 0.1276819068},
                                {"imu3.p_x", 0.02874265367},
                                {"imu3.p_y", -0.002654286551},
                                {"imu3.mount_z", -0.07654735583},
                                {"imu3.gyro_bias_z", 0.01450221947},
                                {"imu3.accel_bias_x", -0.1139888388},
                                {"imu3.accel_bias_y", 0.1204116937}}}};

// Three links, the first with an encoder. Three sensors of unknown place, mounting and biases
// determine the others' motion, to the noise of the unused encoders, and every constant is within
// its standard deviation. The initial state is not given.
TEST(ChainOfSensors, InertialSensorsReplaceEncoders) {
  const auto data = test_support::find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const double counts = 2.0 * M_PI / 4096 / std::sqrt(12.0);
  for (const auto& [variant, noise] : {std::pair{"noise", 1e-3}, std::pair{"quant", counts}}) {
    for (const ChainTruth& truth : kTruths) {
      SCOPED_TRACE(std::string(truth.set) + " " + variant);
      Rig rig = load_rig(test_support::source_folder() + "/configs/rig-chain3imu.textproto");
      for (int body = 0; body < 3; ++body) {
        rig.mechanism.parameter(body, estimator::BodyQuantity::kMass).value = truth.masses[body];
      }
      rig.mechanism.held_out = {"h2", "h3"};
      const std::filesystem::path file =
          *data / "synthetic_planar" /
          (std::string("chain3imu_") + truth.set + "__" + variant + ".csv");
      const estimator::Calibration result =
          estimator::calibrate(rig.mechanism, {import_csv(file.string(), *rig.format).recording});
      EXPECT_TRUE(result.converged());
      ASSERT_EQ(result.held_out.size(), 2U);
      for (const estimator::HeldOutSensor& sensor : result.held_out) {
        EXPECT_LT(sensor.rmse, 1.1 * noise) << sensor.name;
      }
      ASSERT_EQ(result.parameters.size(), truth.values.size());
      for (const estimator::ParameterEstimate& estimate : result.parameters) {
        EXPECT_LT(std::abs(estimate.value - truth.values.at(estimate.name)),
                  3.0 * estimate.standard_deviation)
            << estimate.name;
      }
    }
  }
}

}  // namespace
}  // namespace service
