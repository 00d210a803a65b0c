// Delayed encoders, from rig file over simulation and recording to estimates.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "estimator/model/encoder.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/note_text.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// A driven link with its own encoder, and a second link on it whose rotation relative to the
/// ground is read.
Rig late_rig(const std::string& first, const std::string& second) {
  return parse_rig("r.textproto",
                   two_links("friction { viscous { value: 0.002 } } motor { control_unit: \"V\" "
                             "gain { value: 0.3 } } encoder { " +
                                 first + " }",
                             "friction { viscous { value: 0.001 } }") +
                       R"(body_encoder { name: "tilt" body: "B" encoder { )" + second + R"( } }
recording { time { column: "t" }
  angle { joint: "1" column: "x1" unit: RADIAN }
  angle { joint: "tilt" column: "x2" unit: RADIAN }
  control { joint: "1" column: "u" } }
)");
}

const std::string kDrive =
    "duration_s: 2 multisine { motor: \"1\" ramp_s: 0.5 sine { frequency_hz: 0.7 amplitude: 2 } "
    "sine { frequency_hz: 2.9 amplitude: 2 } } initial { joint: \"2\" angle_rad: 0.9 } ";
constexpr double kStep = 2.5e-4;  // [s]

SimulatedRun run_of(const Rig& rig) {
  return simulate(rig, parse_scenario("s.textproto", kDrive, rig), kStep, nullptr,
                  Integrator::kPhysical);
}

const estimator::Parameter& of_name(const Rig& rig, const std::string& name) {
  return parameter_of(rig.mechanism, name);
}

TEST(LateEncoder, IsReadFromARigFile) {
  const Rig rig = late_rig("delay { value: 2e-3 free: true }", "delay { value: -3e-3 }");
  const estimator::Parameter& first = of_name(rig, "1.encoder_delay");
  EXPECT_EQ(first.value, 2e-3);
  EXPECT_TRUE(first.free);
  EXPECT_EQ(first.unit, "s");
  EXPECT_EQ(first.lower, -0.05);
  EXPECT_EQ(first.upper, 0.05);
  EXPECT_EQ(of_name(rig, "tilt.encoder_delay").value, -3e-3);
  EXPECT_FALSE(of_name(rig, "tilt.encoder_delay").free);
  EXPECT_EQ(of_name(late_rig("", ""), "1.encoder_delay").value, 0.0);
}

TEST(LateEncoder, IsRefusedOutsideItsBounds) {
  for (const char* const value : {"0.06", "-0.06"}) {
    const std::string delay = "delay { value: " + std::string(value) + " }";
    expect_parts(refusal([&] { (void)late_rig(delay, ""); }),
                 {"r.textproto:9:", "1.encoder_delay", "0.05"});
    expect_parts(refusal([&] { (void)late_rig("", delay); }),
                 {"r.textproto:14:", "tilt.encoder_delay", "0.05"});
  }
  expect_parts(refusal([] { (void)late_rig("delay: 0.01", ""); }), {"r.textproto:9:"});
}

// A delayed reading equals the undelayed one that much earlier: exactly for whole steps, otherwise
// up to the error of a cubic through two of them. Before the start the rig is at rest.
TEST(LateEncoder, IsSimulatedLateByItsDelay) {
  const Rig late = late_rig("delay { value: 3e-3 }", "delay { value: 4.1e-3 }");
  const SimulatedRun run = run_of(late), now = run_of(late_rig("", ""));
  ASSERT_EQ(run.angles.rows(), now.angles.rows());
  const Eigen::Index late_samples = 3, rest = run.angles.rows() - late_samples;
  EXPECT_EQ(run.angles.col(0).tail(rest), now.angles.col(0).head(rest));
  EXPECT_TRUE((run.angles.col(0).head(late_samples).array() == now.angles(0, 0)).all());
  EXPECT_TRUE((run.angles.col(1).head(5).array() == now.angles(0, 1)).all());
  EXPECT_EQ(run.controls, now.controls);
  EXPECT_GT((run.angles - now.angles).cwiseAbs().maxCoeff(), 1e-3);
  // 4.1 ms before a sample is a fifth of the way from 4 to 4.5 ms before it.
  const auto released = [](const Rig& rig, const std::string& rate) {
    const std::string text = "duration_s: 2 release { } initial { joint: \"2\" angle_rad: 0.9 } ";
    return simulate(rig, parse_scenario("s.textproto", text + rate, rig), kStep, nullptr,
                    Integrator::kPhysical)
        .angles.col(1)
        .eval();
  };
  const Eigen::VectorXd tilt = released(late, ""),
                        fine = released(late_rig("", ""), "rate_hz: 2000");
  for (Eigen::Index k = 10; k < tilt.size(); k += 97) {
    const Eigen::Index at = 2 * k - 8;
    const double bend = fine[at + 1] - 2.0 * fine[at] + fine[at - 1];
    EXPECT_NEAR(tilt[k], 0.8 * fine[at] + 0.2 * fine[at - 1] - 0.08 * bend,
                0.05 * std::abs(bend) + 1e-7)
        << k;
  }
}

TEST(LateEncoder, IsNotSimulatedAheadOfTime) {
  for (const bool is_first : {true, false}) {
    const Rig rig =
        is_first ? late_rig("delay { value: -1e-3 }", "") : late_rig("", "delay { value: -1e-3 }");
    expect_parts(refusal([&] { (void)run_of(rig); }),
                 {"r.textproto", is_first ? "\"1\"" : "\"tilt\"", "negative delay", "0 or more"});
  }
}

estimator::Recording recorded(const Rig& rig) {
  return simulated_recording(rig, kDrive + "noise { angle_standard_deviation_rad: 5e-4 seed: 3 }",
                             kStep);
}

TEST(LateEncoder, IsCalibratedWithItsOffset) {
  const estimator::Recording recording =
      recorded(late_rig("delay { value: 6e-3 }", "delay { value: 2.3e-3 } offset { value: 0.1 }"));
  const estimator::Calibration found =
      calibrate_whole(late_rig("delay { value: 0 free: true }",
                               "delay { value: 0 free: true } offset { value: 0 free: true }"),
                      recording);
  EXPECT_TRUE(found.converged());
  ASSERT_EQ(found.parameters.size(), 3U);
  const std::pair<const char*, double> truths[] = {
      {"1.encoder_delay", 6e-3}, {"tilt.offset", 0.1}, {"tilt.encoder_delay", 2.3e-3}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.parameters[i].name, truths[i].first);
    EXPECT_NEAR(found.parameters[i].value, truths[i].second,
                4.0 * found.parameters[i].standard_deviation);
    EXPECT_LT(found.parameters[i].standard_deviation, 2e-4);
  }
}

// A stated delay of zero must have no effect.
TEST(LateEncoder, WithZeroDelayIsIdentical) {
  const Rig none = late_rig("offset { value: 0 free: true }", "offset { value: 0 free: true }");
  const Rig zero = late_rig("offset { value: 0 free: true } delay { value: 0 }",
                            "delay { value: 0 } offset { value: 0 free: true }");
  const estimator::Recording recording = recorded(none);
  EXPECT_EQ(recorded(zero).segments[0].angles, recording.segments[0].angles);
  const estimator::Calibration a = calibrate_whole(none, recording),
                               b = calibrate_whole(zero, recording);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    EXPECT_EQ(a.parameters[i].value, b.parameters[i].value);
    EXPECT_EQ(a.parameters[i].standard_deviation, b.parameters[i].standard_deviation);
  }
}

/// One pendulum with one encoder, driven or not.
Rig one_pendulum(const std::string& delay, bool is_driven) {
  const std::string motor = "motor { control_unit: \"V\" gain { value: 0.3 } }",
                    control = "control { joint: \"1\" column: \"u\" }";
  return parse_rig("r.textproto", R"(
body { name: "A" mass { value: 0.5 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.004 free: true } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.002 free: true } } )" +
                                      (is_driven ? motor : "") + " encoder { delay { " + delay +
                                      " } } }\n"
                                      "recording { time { column: \"t\" } "
                                      "angle { joint: \"1\" column: \"x\" unit: RADIAN } " +
                                      (is_driven ? control : "") + " }");
}

estimator::Calibration pendulum_calibrated(bool is_driven) {
  const std::string drive =
      is_driven ? "multisine { motor: \"1\" sine { frequency_hz: 1.9 amplitude: 2 } "
                  "sine { frequency_hz: 3.1 amplitude: 2 } }"
                : "release { }";
  const estimator::Recording recording =
      simulated_recording(one_pendulum("value: 4.2e-3", is_driven),
                          "duration_s: 3 initial { joint: \"1\" angle_rad: 0.9 } noise { "
                          "angle_standard_deviation_rad: 5e-4 seed: 4 } " +
                              drive,
                          kStep);
  return calibrate_whole(one_pendulum("value: 0 free: true", is_driven), recording);
}

// With a motor, one encoder's delay is identifiable relative to the command.
TEST(LateEncoder, OfOnePendulumIsIdentifiedByItsMotor) {
  const estimator::Calibration found = pendulum_calibrated(true);
  EXPECT_TRUE(found.converged());
  const estimator::ParameterEstimate& delay = found.parameters.back();
  EXPECT_EQ(delay.name, "1.encoder_delay");
  EXPECT_NEAR(delay.value, 4.2e-3, 4.0 * delay.standard_deviation);
  EXPECT_LT(delay.standard_deviation, 2e-4);
}

// Without a motor there is no reference for the delay, which is reported.
TEST(LateEncoder, OfOnePendulumAloneIsNotIdentifiable) {
  const estimator::Calibration found = pendulum_calibrated(false);
  expect_parts(
      text_of_notes(found.notes),
      {"1.encoder_delay: only differences of these delays are identifiable", "add an encoder"});
}

}  // namespace
}  // namespace service
