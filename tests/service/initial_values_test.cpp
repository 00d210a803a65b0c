// Calibrations from initial values that are off by a factor of 1000.
#include <gtest/gtest.h>

#include <string>

#include "service/rig/rig_file.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;

Rig rig_of(const std::string& name) {
  return load_rig(source_folder() + "/configs/rig-" + name + ".textproto");
}

// A released pendulum. Without a start from inverse dynamics, the fit from a large inertia ends
// with the encoder zero half a turn off.
TEST(InitialValues, OfInertiaMayBeWrongByAFactorOfThousand) {
  Rig truth = rig_of("pendulum");
  parameter_of(truth.mechanism, "pendulum.J_zz").value = 0.003;
  parameter_of(truth.mechanism, "pivot.b").value = 2e-4;
  parameter_of(truth.mechanism, "pivot.tau_c").value = 1.5e-3;
  parameter_of(truth.mechanism, "pivot.offset").value = 0.01;
  const estimator::Recording recording =
      simulated_recording(truth,
                          "duration_s: 15 release { } initial { joint: \"pivot\" angle_rad: 2.5 } "
                          "noise { angle_standard_deviation_rad: 5e-4 seed: 1 }");
  for (const double inertia : {3e-6, 3.0}) {
    Rig rig = rig_of("pendulum");
    parameter_of(rig.mechanism, "pendulum.J_zz").value = inertia;
    expect_truth(calibrate_whole(rig, recording), truth.mechanism);
  }
}

}  // namespace
}  // namespace service
