// An encoder between two bodies, from rig file and recording to estimates.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/model/encoder.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// Two arms that swing in one plane; the second one's encoder is added at the end.
const std::string kArms = R"(name: "arms"
body { name: "upper" mass { value: 0.3 }
       inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 1e-3 free: true } } }
body { name: "lower" mass { value: 0.2 }
       inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 8e-4 free: true } } }
joint { name: "shoulder"
        parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
        child { body: "upper" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
        friction { viscous { value: 1e-3 free: true } } encoder { counts_per_turn: 4096 } }
joint { name: "elbow"
        parent { body: "upper" point { x { value: 0.1 } } axis { z: 1 } zero_direction { x: 1 } }
        child { body: "lower" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
        friction { viscous { value: 5e-4 free: true } } ELBOW }
recording { time { column: "t" } angle { joint: "shoulder" column: "a" unit: RADIAN }
            angle { joint: "SECOND" column: "b" unit: COUNT } }
)";

const std::string kInclination =
    "body_encoder { name: \"incl\" body: \"lower\"\n"
    "  encoder { counts_per_turn: 2000 offset { value: 0.05 free: true } } }\n";

std::string with_inclination() {
  return replaced(replaced(kArms, "ELBOW", ""), "SECOND", "incl") + kInclination;
}

std::string with_relative_angle() {
  const char* const encoder = "encoder { counts_per_turn: 2000 offset { value: 0.05 free: true } }";
  return replaced(replaced(kArms, "ELBOW", encoder), "SECOND", "elbow");
}

Rig rig_of(const std::string& text) { return parse_rig("r.textproto", text); }

std::string refusal_of(const std::string& text) {
  return refusal([&] { (void)rig_of(text); });
}

TEST(BodyEncoderInARigFile, IsASensorLikeThatOfAJoint) {
  const Rig rig = rig_of(with_inclination());
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  ASSERT_EQ(sensors.size(), 2U);
  EXPECT_EQ(sensors[0].name, "shoulder");
  EXPECT_EQ(sensors[1].name, "incl");
  EXPECT_EQ(sensors[1].terms.size(), 2U);
  const estimator::Parameter& offset =
      rig.mechanism.parameters[static_cast<std::size_t>(sensors[1].offset)];
  EXPECT_EQ(offset.name, "incl.offset");
  EXPECT_EQ(offset.unit, "rad");
  EXPECT_EQ(offset.value, 0.05);
  EXPECT_TRUE(offset.free);
  ASSERT_EQ(rig.encoders.size(), 2U);
  EXPECT_EQ(rig.encoders[0].counts, 4096.0);
  EXPECT_EQ(rig.encoders[1].counts, 2000.0);
  EXPECT_STREQ(rig.encoders[1].counts_of, "turn");
  ASSERT_EQ(rig.format->angles.size(), 2U);
  EXPECT_EQ(rig.format->angles[1].joint, "incl");
  EXPECT_EQ(rig.format->angles[1].scale, 2.0 * M_PI / 2000.0);
}

TEST(BodyEncoderInARigFile, MayBeAgainstAnyBody) {
  const Rig rig = rig_of(replaced(with_inclination(), "body: \"lower\"\n",
                                  "body: \"upper\" reference_body: \"lower\"\n"));
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  ASSERT_EQ(sensors[1].terms.size(), 1U);
  EXPECT_EQ(sensors[1].terms[0].joint, 1);
  EXPECT_EQ(sensors[1].terms[0].sign, -1.0);
}

TEST(BodyEncoderInARigFile, IsRefusedWithLineAndRemedy) {
  const std::string good = with_inclination();
  expect_parts(refusal_of(replaced(good, "body: \"lower\"\n", "body: \"forearm\"\n")),
               {"r.textproto:16:29", "\"forearm\"", "ground, upper, lower"});
  expect_parts(
      refusal_of(replaced(good, "body: \"lower\"\n", "body: \"lower\" reference_body: \"x\"\n")),
      {"r.textproto:16:", "\"x\""});
  expect_parts(refusal_of(replaced(good, "body: \"lower\"\n", "body: \"ground\"\n")),
               {"r.textproto:16:", "do not move relative to each other",
                "give two bodies that move relative to each other"});
  expect_parts(refusal_of(replaced(good, "counts_per_turn: 2000", "counts_per_m: 2000")),
               {"r.textproto:17:13", "\"incl\" reads a turn", "counts_per_turn"});
  expect_parts(refusal_of(replaced(good, "counts_per_turn: 2000",
                                   "delay { value: 0.2 } counts_per_turn: 2000")),
               {"r.textproto:17:", "incl.encoder_delay", "0.05"});
  expect_parts(refusal_of(replaced(good, "name: \"incl\"", "name: \"elbow\"")),
               {"r.textproto:16:", "the name is already used"});
  expect_parts(refusal_of(replaced(good, "joint: \"incl\" column", "joint: \"elbow\" column")),
               {"r.textproto:15:", "\"elbow\" has no encoder"});
  expect_parts(refusal_of(replaced(good, "joint: \"incl\" column", "joint: \"knee\" column")),
               {"r.textproto:15:", "\"knee\"", "use one of shoulder incl"});
  expect_parts(refusal_of(replaced(
                   good, "\n            angle { joint: \"incl\" column: \"b\" unit: COUNT }", "")),
               {"r.textproto:14:", "\"incl\" has an encoder but no angle column"});
  expect_parts(refusal_of(replaced(good, "point { x { value: 0.1 } } axis { z: 1 }",
                                   "point { x { value: 0.1 } } axis { y: 1 }")),
               {"r.textproto:16:", "\"shoulder\" and \"elbow\"", "not parallel"});
}

// The same motion read relative to the upper arm and relative to the ground: the estimates must
// agree, and the written file must be readable.
TEST(BodyEncoderInARigFile, GivesTheEstimatesOfARelativeOne) {
  const Rig relative = rig_of(with_relative_angle()), inclined = rig_of(with_inclination());
  const auto recording_of = [](const Rig& rig) {
    const Scenario scenario =
        parse_scenario("s.textproto",
                       "duration_s: 4 release { } initial { joint: \"shoulder\" angle_rad: 0.5 } "
                       "initial { joint: \"elbow\" angle_rad: -0.9 } "
                       "noise { angle_standard_deviation_rad: 1e-4 seed: 3 }",
                       rig);
    const SimulatedRun run = simulate(rig, scenario, 5e-4);
    return import_csv_text("s.csv", simulation_csv(rig, run), *rig.format).recording;
  };
  const estimator::Recording of_relative = recording_of(relative);
  const estimator::Recording of_inclined = recording_of(inclined);
  const Eigen::MatrixXd &r = of_relative.segments[0].angles, &i = of_inclined.segments[0].angles;
  EXPECT_NEAR(i(0, 1) + 0.05, 0.5 - 0.9, 1e-3);
  EXPECT_LT(((r.col(0) + r.col(1)) - i.col(1)).cwiseAbs().maxCoeff(), 2e-3);
  const estimator::Calibration a = estimator::calibrate(relative.mechanism, {of_relative});
  const estimator::Calibration b = estimator::calibrate(inclined.mechanism, {of_inclined});
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  EXPECT_TRUE(a.converged() && b.converged());
  for (std::size_t k = 0; k < a.parameters.size(); ++k) {
    const auto &x = a.parameters[k], &y = b.parameters[k];
    EXPECT_LT(std::abs(x.value - y.value),
              4.0 * std::hypot(x.standard_deviation, y.standard_deviation))
        << x.name << " " << x.value << " and " << y.value << " ± " << y.standard_deviation;
    EXPECT_LT(y.standard_deviation, 0.02 * std::max(std::abs(y.value), 0.05)) << y.name;
  }
  EXPECT_EQ(b.parameters.back().name, "incl.offset");
  EXPECT_EQ(b.simulation[1].joint, "incl");
  EXPECT_LT(b.simulation[1].rmse, 1.2e-4);
}

}  // namespace
}  // namespace service
