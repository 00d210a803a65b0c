#include "daq/console/until_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "proto/text/input_error.hpp"

// Targets of --until, and the decision to end a recording.

namespace daq {
namespace {

proto::LiveEstimate make_estimate(double through_s, double half_width, bool is_accepted = true) {
  return {through_s, is_accepted, {{"B.J_yy", "kg·m²", 4e-3, half_width}}, ""};
}

TEST(LiveTargetTest, HasRelativeOrAbsolutePrecision) {
  const proto::LiveTarget relative = parse_live_target("B.J_yy:0.1%");
  EXPECT_EQ(relative.parameter, "B.J_yy");
  EXPECT_EQ(relative.half_width, 0.1);
  EXPECT_EQ(relative.unit, "%");
  const proto::LiveTarget absolute = parse_live_target("left:arm.J_yy:4e-6 kg·m²");
  EXPECT_EQ(absolute.parameter, "left:arm.J_yy");
  EXPECT_EQ(absolute.half_width, 4e-6);
  EXPECT_EQ(absolute.unit, "kg·m²");
}

// A precision of zero or NaN could never or always hold.
TEST(LiveTargetTest, RefusesOtherTexts) {
  for (const char* text : {"B.J_yy", ":1%", "B.J_yy:", "B.J_yy:%", "B.J_yy:0%", "B.J_yy:-1%",
                           "B.J_yy:nan%", "B.J_yy:inf%"}) {
    SCOPED_TRACE(text);
    EXPECT_THROW(parse_live_target(text), proto::InputError);
  }
}

// The first small interval of many is too small too often, so it must not end the recording.
TEST(UntilRuleTest, NeedsConsecutiveEstimates) {
  UntilRule rule({{"B.J_yy", 0.1, "%"}});
  rule.add(make_estimate(1.0, 3e-6));
  rule.add(make_estimate(2.0, 3e-6));
  rule.add(make_estimate(3.0, 5e-6));
  rule.add(make_estimate(4.0, 4e-6));
  rule.add(make_estimate(5.0, 3e-6));
  EXPECT_FALSE(rule.is_met());
  rule.add(make_estimate(6.0, 3e-6));
  EXPECT_TRUE(rule.is_met());
}

// The rest counts in time of the recording, however fast the estimates arrive.
TEST(UntilRuleTest, NeedsARestOfTheRecording) {
  UntilRule rule({{"B.J_yy", 0.1, "%"}});
  for (int k = 0; k < 10; ++k) rule.add(make_estimate(1.0 + 0.05 * k, 3e-6));
  EXPECT_FALSE(rule.is_met());
  rule.add(make_estimate(1.0 + UntilRule::kRest_s, 3e-6));
  EXPECT_TRUE(rule.is_met());
}

// Nothing but small intervals of an accepted model may end a recording.
TEST(UntilRuleTest, IsNotMetWithoutTargetModelOrEstimate) {
  const auto is_met_by = [](const proto::LiveEstimate& estimate,
                            std::vector<proto::LiveTarget> targets) {
    UntilRule rule(std::move(targets));
    for (int k = 0; k < 10; ++k) {
      proto::LiveEstimate next = estimate;
      next.through_s += k;
      rule.add(next);
    }
    return rule.is_met();
  };
  const std::vector<proto::LiveTarget> targets = {{"B.J_yy", 5e-6, "kg·m²"}};
  EXPECT_TRUE(is_met_by(make_estimate(1.0, 3e-6), targets));
  EXPECT_FALSE(is_met_by(make_estimate(1.0, 3e-6), {}));
  EXPECT_FALSE(is_met_by(make_estimate(1.0, 3e-6, false), targets));
  EXPECT_FALSE(is_met_by(make_estimate(1.0, NAN), targets));
  EXPECT_FALSE(is_met_by(make_estimate(1.0, INFINITY), targets));
  for (const auto& [value, half_width, is_met] :
       {std::tuple(-4e-3, 5e-6, false), std::tuple(-4e-3, 3e-6, true),
        std::tuple(0.0, 0.0, false)}) {
    proto::LiveEstimate estimate = make_estimate(1.0, half_width);
    estimate.parameters[0].value = value;
    EXPECT_EQ(is_met_by(estimate, {{"B.J_yy", 0.1, "%"}}), is_met) << value;
  }
  proto::LiveEstimate broken = make_estimate(1.0, 3e-6);
  broken.problem = "too little motion";
  EXPECT_FALSE(is_met_by(broken, targets));
  EXPECT_FALSE(is_met_by(make_estimate(1.0, 3e-6), {targets[0], {"A.J_zz", 1.0, "%"}}));
}

TEST(UntilRuleTest, DescribesWhyTheRecordingEnded) {
  UntilRule rule({{"B.J_yy", 0.1, "%"}});
  EXPECT_EQ(rule.describe_targets().at(0), "B.J_yy: no estimate yet (target 0.1 %)");
  for (int k = 0; k < 3; ++k) rule.add(make_estimate(k, 3.2e-6));
  EXPECT_EQ(rule.describe_end(),
            "All targets hold and the model fits, so the recording has ended: "
            "B.J_yy = 0.004 kg·m² ± 0.08 % (target 0.1 %).");
  UntilRule early({{"B.J_yy", 4e-6, "kg·m²"}});
  early.add(make_estimate(1.0, 8e-6));
  EXPECT_EQ(early.describe_end(),
            "The recording has ended before all targets hold: "
            "B.J_yy = 0.004 ± 8e-6 kg·m² (target 4e-6 kg·m²).");
}

}  // namespace
}  // namespace daq
