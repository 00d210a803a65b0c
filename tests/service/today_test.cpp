// Prior state of a rig before a run is designed.
#include "service/design/prior_state.hpp"

#include <gtest/gtest.h>

#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

std::string values_of(double viscous, const std::string& more = "") {
  return "{\"parameters\": [{\"name\": \"1.b\", \"unit\": \"N·m·s/rad\", \"value\": " +
         std::to_string(viscous) + ", \"standardDeviation\": 1e-7}]" + more + "}";
}

double viscous_of(const PriorState& today) {
  const estimator::Mechanism& mechanism = today.rig.mechanism;
  return mechanism.parameters[static_cast<std::size_t>(mechanism.find_parameter("1.b"))].value;
}

// Only values are taken: their uncertainty comes from --after alone.
TEST(PriorState, TakesOnlyTheValuesOfAResult) {
  const TemporaryFolder folder;
  const std::string rig = config("rig-furuta.textproto");
  const PriorState plain = load_prior_state(rig, "");
  EXPECT_EQ(viscous_of(plain), 1e-4);
  const PriorState valued = load_prior_state(rig, "", folder.write("v.json", values_of(0.002)));
  EXPECT_EQ(viscous_of(valued), 0.002);
  EXPECT_FALSE(valued.is_estimated);
  EXPECT_EQ(valued.deviations, plain.deviations);
}

TEST(PriorState, ValuesOfASimulatorAreRefused) {
  const TemporaryFolder folder;
  const std::string shadow =
      folder.write("s.json", values_of(0.002,
                                       ", \"options\": {\"parameters\": \"shadow\", \"stepS\": "
                                       "0.001, \"stateErrorWeight\": 1}"));
  expect_parts(refusal([&] { (void)load_prior_state(config("rig-furuta.textproto"), "", shadow); }),
               {"s.json", "SPOOK simulator"});
}

TEST(PriorState, DesignAcceptsOneResult) {
  const TemporaryFolder folder;
  const std::string values = folder.write("v.json", values_of(0.002));
  run_refused("design --rig " + config("rig-furuta.textproto") + " --after " + values +
                  " --parameters " + values + " --out " + folder.file("next.textproto"),
              {"--after", "--parameters"});
}

}  // namespace
}  // namespace service
