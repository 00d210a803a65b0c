#include <gtest/gtest.h>

#include <limits>

#include "service/calibration/simulation_truth.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

// A wrong pairing would compare a parameter with another one's truth. Fixed values of a rig file
// must be those of its simulation, and every free parameter must have a truth. Stribeck friction is
// excluded: the pendulum's rig file does not have it, its simulation does.
TEST(SimulationTruth, HasTheParametersOfItsRigFile) {
  for (const std::string name : {"furuta", "pendulum"}) {
    SCOPED_TRACE(name);
    const TrueParameters truth = load_simulation_truth(config("sim-" + name + ".textproto"));
    const Rig rig = load_rig(config("rig-" + name + ".textproto"));
    for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
      const auto found = truth.find(parameter.name);
      if (parameter.free) {
        EXPECT_NE(found, truth.end()) << parameter.name;
      } else if (found != truth.end() && !parameter.name.ends_with(".zeta") &&
                 !parameter.name.ends_with("tau_delta")) {
        EXPECT_DOUBLE_EQ(parameter.value, found->second) << parameter.name;
      }
    }
  }
  const TrueParameters furuta = load_simulation_truth(config("sim-furuta.textproto"));
  EXPECT_EQ(furuta.at("B.J_yy"), 0.00396);
  EXPECT_EQ(furuta.at("1.tau_c"), 0.004);
  EXPECT_EQ(furuta.at("gravity.tilt_z"), -0.004);
}

estimator::ParameterEstimate estimate(const std::string& name, double value, double deviation) {
  estimator::ParameterEstimate result;
  result.name = name;
  result.unit = "kg·m²";
  result.value = value;
  result.standard_deviation = deviation;
  return result;
}

TEST(TruthTable, StatesErrorsInPercentAndInDeviations) {
  const TrueParameters truth = {{"A.J_zz", 0.004}, {"2.offset", 0.0}};
  const std::string table =
      format_truth_comparison({estimate("A.J_zz", 0.0041, 5e-5), estimate("2.offset", 0.002, 1e-3),
                               estimate("unknown", 1.0, 1.0)},
                              truth);
  expect_parts(table, {"A.J_zz", "0.004100", "+2.50 %", "+2", "0.0020"});
  EXPECT_EQ(table.find("unknown"), std::string::npos);
  // Nothing is claimed about an estimate without a standard deviation.
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string unseen = format_truth_comparison({estimate("A.J_zz", 0.0041, infinity)}, truth);
  expect_parts(unseen, {"+2.50 %"});
  EXPECT_TRUE(unseen.ends_with(" -\n")) << unseen;
  expect_parts(refusal([&] { (void)format_truth_comparison({estimate("x", 1.0, 1.0)}, truth); }),
               {"none of the estimated parameters", "rig file"});
}

TEST(SimulationTruth, FileWithoutARigIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("sim.textproto", "gravity { tilt_x_rad: 0.1 }");
  expect_parts(refusal([&] { (void)load_simulation_truth(path); }), {path, "no rig", "furuta"});
}

}  // namespace
}  // namespace service
