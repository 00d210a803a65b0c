#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "daq/config/commission_file.hpp"
#include "proto/commission.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "tests/daq/commission_rig.hpp"
#include "tests/daq/simulated_rig.hpp"

// rigcal-daq commission from start to end on the simulated unit, in virtual time, with each wiring
// mistake injected.

namespace daq {
namespace {

constexpr const char* kRigText = R"(name: "small"
joint {
  name: "1"
  parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } }
  motor { control_unit: "V" control_max: 10 gain { value: 0.05 } }
  encoder { counts_per_turn: 4096 }
}
joint {
  name: "2"
  parent {
    body: "A" axis { x: 1 }
    zero_direction { z: -1 }  # hanging
  }
  encoder { counts_per_turn: 4096 }
}
# The unit under the table.
unit {
  channel { joint: "1" }  # arm
  channel { joint: "2" }
}
safety {
  command_max: 10
  staleness_ms_max: 50
  joint { joint: "1" angle_rad_min: -12.6 angle_rad_max: 12.6 speed_rad_per_s_max: 40 }
  joint { joint: "2" angle_rad_min: -200 angle_rad_max: 200 speed_rad_per_s_max: 60 }
}
)";

firmware_iface::sim::FurutaParameters plant() {
  firmware_iface::sim::FurutaParameters furuta;
  furuta.arm_friction.viscous = 0.001;
  furuta.arm_friction.coulomb = 0.004;
  furuta.pendulum_friction.viscous = 0.0001;
  furuta.pendulum_friction.coulomb = 0.0009;
  return furuta;
}

/// Wiring mistakes that a unit cannot detect.
struct Mistakes {
  firmware_iface::sim::SimulationSettings simulation = simulation_settings();
  firmware_iface::sim::FurutaParameters furuta = plant();
  std::string rig_text = kRigText;

  firmware_iface::sim::EncoderSettings& encoder(std::size_t k) {
    return simulation.unit.encoder[k];
  }
};

// On a correct rig only the record is written, and it is valid from then on.
TEST(Commission, WritesARecordForACorrectRig) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_FALSE(rig.said("FAULT") || rig.said("change  ")) << rig.transcript();
  const auto record = rig.rig().commissioned;
  ASSERT_TRUE(record.has_value()) << rig.rig_text();
  EXPECT_EQ(record->date, "2026-11-26");
  EXPECT_EQ(record->hash,
            commission_hash(rig.rig().commissioned_fields, record->configuration_hash));
  // Everything else stays, including comments.
  const std::string text = rig.rig_text();
  const std::size_t begin = text.find("  commissioned {");
  ASSERT_NE(begin, std::string::npos) << text;
  std::string without = text;
  without.erase(begin, text.find('\n', begin) + 1 - begin);
  EXPECT_EQ(without, kRigText);
  EXPECT_EQ(proto::read_file(rig.path() + ".before-commission"), kRigText);
  EXPECT_TRUE(rig.unit().is_tripped());

  // A second run on the same day must write nothing.
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("its record is already dated today"));
  EXPECT_FALSE(std::filesystem::exists(rig.path() + ".before-commission-2"));
}

// The figures must match the simulated motor: dead band = friction / gain, and the inertia of an
// arm that carries a free pendulum (whose joint lets it lag).
TEST(Commission, MeasuresTheMotor) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  rigcal::v1::CommissionRecord record;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  proto::read_file(rig.path() + ".commissioned.json"), &record)
                  .ok());
  ASSERT_EQ(record.motor_size(), 1);
  const auto& motor = record.motor(0);
  const firmware_iface::sim::FurutaParameters p = plant();
  const double dead_band = p.arm_friction.coulomb / p.motor_gain;
  EXPECT_NEAR(motor.dead_band(), dead_band, 0.25 * dead_band);
  const double l = p.pendulum_center_distance, m = p.pendulum_mass;
  const double arm = p.arm_inertia_zz + p.shaft_inertia +
                     p.arm_mass * p.arm_center_distance * p.arm_center_distance +
                     m * p.arm_length * p.arm_length;
  const double coupling = m * p.arm_length * l;
  const double pendulum = p.pendulum_inertia_yy + m * l * l;
  const double acceleration = p.motor_gain / (arm - coupling * coupling / pendulum);
  EXPECT_GT(motor.acceleration(), p.motor_gain / arm);
  EXPECT_LT(motor.acceleration(), 1.1 * acceleration);
  EXPECT_EQ(motor.delay_ticks(), 1);
  EXPECT_EQ(record.rig_file_sha256().size(), 64U);
  EXPECT_EQ(record.joint_size(), 2);
}

// Commissioning must drive gently: the unit puts out at most 5 % of command_max, and nothing while
// a hand is in the rig.
TEST(Commission, CommandsLittle) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  double before_motor_V = -1.0;
  rig.add_rule({"Release the brake", [&] {
                  before_motor_V = rig.output_peak_V();
                  rig.let_go();
                }});
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_EQ(before_motor_V, 0.0);
  EXPECT_LE(rig.output_peak_V(), 0.5);
  EXPECT_GT(rig.output_peak_V(), 0.4);
}

TEST(Commission, FindsAnInvertedEncoder) {
  Mistakes mistakes;
  mistakes.encoder(0).count_factor = -1.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("inverted becomes true")) << rig.transcript();
  EXPECT_TRUE(rig.rig().channel[0].inverted);
  EXPECT_FALSE(rig.rig().channel[1].inverted);
  EXPECT_NE(rig.rig_text().find("channel { joint: \"1\" inverted: true }  # arm"),
            std::string::npos)
      << rig.rig_text();
}

// The file states "inverted" for an encoder that is not: the field is changed, not added twice.
TEST(Commission, FindsAnEncoderThatIsNotInverted) {
  Mistakes mistakes;
  const std::string channel = "channel { joint: \"2\" }";
  mistakes.rig_text.replace(mistakes.rig_text.find(channel), channel.size(),
                            "channel { joint: \"2\" inverted: true }");
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("inverted becomes false")) << rig.transcript();
  EXPECT_FALSE(rig.rig().channel[1].inverted);
}

TEST(Commission, FindsCountsThatAreTooFew) {
  Mistakes mistakes;
  mistakes.encoder(0).count_factor = 1.0 / 16.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("16 times too few")) << rig.transcript();
  EXPECT_TRUE(rig.said("counts_per_turn: 256")) << rig.transcript();
  EXPECT_TRUE(rig.said("a whole turn")) << rig.transcript();
  EXPECT_TRUE(rig.said("The motor is not tested")) << rig.transcript();
  EXPECT_EQ(rig.output_peak_V(), 0.0);
  EXPECT_EQ(rig.rig_text(), kRigText);
}

TEST(Commission, ReportsUncountedEdges) {
  Mistakes mistakes;
  mistakes.encoder(1).count_factor = 0.25;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("4 times too few. The unit probably counts one edge of four"))
      << rig.transcript();
}

// Each joint moves the other's encoder. The channel blocks are swapped with their content, and the
// motor is then tested with its joint's encoder.
TEST(Commission, FindsSwappedChannels) {
  Mistakes mistakes;
  mistakes.encoder(0).joint = 1;
  mistakes.encoder(1).joint = 0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("the channels become \"2\", \"1\"")) << rig.transcript();
  EXPECT_EQ(rig.rig().channel[0].joint, "2");
  EXPECT_EQ(rig.rig().channel[1].joint, "1");
}

TEST(Commission, FindsSwappedChannelsOneOfThemInverted) {
  Mistakes mistakes;
  mistakes.encoder(0).joint = 1;
  mistakes.encoder(1).joint = 0;
  mistakes.encoder(1).count_factor = -1.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_EQ(rig.rig().channel[1].joint, "1");
  EXPECT_TRUE(rig.rig().channel[1].inverted);
  EXPECT_FALSE(rig.rig().channel[0].inverted);
}

// Two joints on one encoder: no order of the channels can be right.
TEST(Commission, FindsOneEncoderThatCountsForTwoJoints) {
  Mistakes mistakes;
  mistakes.encoder(0).joint = 1;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("FAULT")) << rig.transcript();
  EXPECT_EQ(rig.output_peak_V(), 0.0);
}

TEST(Commission, FindsADeadEncoder) {
  Mistakes mistakes;
  mistakes.encoder(1).count_factor = 0.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("Encoder 1 did not count")) << rig.transcript();
  EXPECT_TRUE(rig.said("The motor is not tested")) << rig.transcript();
}

TEST(Commission, FindsAnEncoderThatIsNeverRead) {
  Mistakes mistakes;
  mistakes.simulation.unit.faults.channel_dropout = 1.0;
  mistakes.simulation.unit.faults.dropout_max = std::chrono::hours(1);
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("Encoder 1 of joint \"2\" sends no valid reading")) << rig.transcript();
}

TEST(Commission, FindsCountsThatDrift) {
  Mistakes mistakes;
  mistakes.encoder(1).drift_counts_per_s = -4.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("Encoder 1 of joint \"2\" drifts by -4 counts per second"))
      << rig.transcript();
}

// A joint that still swings must not be reported as drift: the step is repeated once it rests.
TEST(Commission, RepeatsAStepWhenAsked) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  int rests = 0, turns = 0;
  rig.add_rule({"Do not touch the rig",
                [&] {
                  if (++rests == 1) rig.turn(1, 0.3);
                },
                "", 0.5});
  rig.add_rule({"Turn joint \"1\" by hand a quarter", [&] {
                  if (++turns == 2) rig.turn(0, 1.57);
                }});
  rig.add_rule({"Enter: continue", {}, "r", 2.0});
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_EQ(rests, 2);
  EXPECT_EQ(turns, 2);
}

TEST(Commission, FindsTheZero) {
  Mistakes mistakes;
  mistakes.encoder(1).zero_offset_rad = 0.7;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("offset_rad becomes 0.69")) << rig.transcript();
  EXPECT_TRUE(rig.said("counts from its power-on position")) << rig.transcript();
  EXPECT_NEAR(rig.rig().channel[1].offset_rad, 0.7, 2e-3);
  EXPECT_TRUE(rig.said("to its zero position, hanging")) << rig.transcript();
}

// The zero of an absolute encoder is kept.
TEST(Commission, FindsTheZeroOfAnAbsoluteEncoder) {
  Mistakes mistakes;
  mistakes.encoder(1).zero_offset_rad = -2.0;
  mistakes.encoder(1).absolute = true;
  mistakes.encoder(1).modulus = 4096;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_FALSE(rig.said("counts from its power-on position")) << rig.transcript();
  EXPECT_NEAR(rig.rig().channel[1].offset_rad, -2.0, 2e-3);
}

TEST(Commission, FindsAMotorThatIsReversed) {
  Mistakes mistakes;
  mistakes.furuta.motor_gain = -mistakes.furuta.motor_gain;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("moves in the negative direction under a positive command"))
      << rig.transcript();
  EXPECT_TRUE(rig.said("Exchange the motor's two wires, or make gain negative"))
      << rig.transcript();
  EXPECT_LE(rig.output_peak_V(), 0.5);
}

// The same motor is correct if the rig file states a negative gain.
TEST(Commission, AcceptsANegativeGain) {
  Mistakes mistakes;
  mistakes.furuta.motor_gain = -mistakes.furuta.motor_gain;
  const std::string gain = "value: 0.05";
  mistakes.rig_text.replace(mistakes.rig_text.find(gain), gain.size(), "value: -0.05");
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
}

TEST(Commission, FindsAMotorThatIsDead) {
  Mistakes mistakes;
  mistakes.furuta.motor_gain = 0.0;
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(
      rig.said("did not move at 2 V (20 % of command_max). Check its brake, the motor's "
               "supply"))
      << rig.transcript();
  for (const char* level : {"0.5 V (5 %", "1 V (10 %", "1.5 V (15 %", "2 V (20 %"}) {
    EXPECT_TRUE(rig.said(level)) << level << rig.transcript();
  }
  EXPECT_NEAR(rig.output_peak_V(), 2.0, 20.0 / 4096);  // one step of the converter
}

// A motor that hardly overcomes friction: each higher level needs the operator's consent.
TEST(Commission, MeasuresALargeDeadBand) {
  Mistakes mistakes;
  mistakes.furuta.arm_friction.coulomb = 1.2 * mistakes.furuta.motor_gain;  // 1.2 V of 10 V
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  ASSERT_EQ(rig.run(), ExitCode::kDone) << rig.transcript();
  EXPECT_TRUE(rig.said("did not move at 0.5 V") && rig.said("did not move at 1 V"))
      << rig.transcript();
  EXPECT_TRUE(rig.said("the joint begins to move at 1.1 V, 11 % of command_max, which is large"))
      << rig.transcript();
  // The default stall limit, 0.5 V, would trip while friction still holds the joint.
  EXPECT_TRUE(rig.said("stall { command: ")) << rig.transcript();
  EXPECT_GT(rig.rig().limits.motion[0].stall_command, 1.2);
  EXPECT_LT(rig.rig().limits.motion[0].stall_command, 2.4);
}

// The rig's limits hold in every pulse: exceeding one ends it.
TEST(Commission, EndsAPulseAtALimit) {
  Mistakes mistakes;
  const std::string limit = "speed_rad_per_s_max: 40";
  mistakes.rig_text.replace(mistakes.rig_text.find(limit), limit.size(),
                            "speed_rad_per_s_max: 0.1 jump_rad_max: 0.4");
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
  EXPECT_TRUE(rig.said("A safety limit ended the motion: 1: speed")) << rig.transcript();
}

// --- How a commissioning ends ---

/// Every question of the commissioning of this rig.
constexpr const char* kQuestions[] = {
    "Do not touch the rig", "Turn joint \"1\"",  "Turn joint \"2\"",      "Move joint \"1\"",
    "Move joint \"2\"",     "Release the brake", "Keep clear, and press", "Write them?"};

// After Ctrl-C in any step the motor is off and nothing is written.
TEST(Commission, StopsAtAnyQuestion) {
  for (const char* question : kQuestions) {
    SCOPED_TRACE(question);
    CommissionRig rig(kRigText, simulation_settings(), plant());
    rig.add_rule({question, [&] { rig.stop().store(true); }});
    EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
    EXPECT_TRUE(rig.said("nothing was written")) << rig.transcript();
    EXPECT_TRUE(rig.unit().is_tripped());
    EXPECT_EQ(rig.rig_text(), kRigText);
    EXPECT_EQ(rig.file_count(), 1U);
  }
}

// The same holds if the unit is lost or the operator leaves.
TEST(Commission, EndsAtAnyQuestionWhenTheUnitIsGone) {
  for (const char* question : kQuestions) {
    SCOPED_TRACE(question);
    CommissionRig rig(kRigText, simulation_settings(), plant());
    rig.add_rule({question, [&] { rig.transport().close(); }});
    EXPECT_EQ(rig.run(), ExitCode::kTrouble);
    EXPECT_EQ(rig.rig_text(), kRigText);
    EXPECT_EQ(rig.file_count(), 1U);
  }
}

TEST(Commission, EndsAtAnyQuestionWhenTheOperatorLeaves) {
  for (const char* question : kQuestions) {
    SCOPED_TRACE(question);
    CommissionRig rig(kRigText, simulation_settings(), plant());
    rig.add_rule({question, [&] { rig.leave(); }});
    EXPECT_THROW(rig.run(), proto::InputError);
    EXPECT_TRUE(rig.unit().is_tripped());
    EXPECT_EQ(rig.rig_text(), kRigText);
  }
}

// A unit that restarts in the middle of a pulse must not be driven any further.
TEST(Commission, EndsWhenTheUnitRestarts) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  rig.at_output([&] { rig.unit().reset(rig.now()); });
  EXPECT_EQ(rig.run(), ExitCode::kTrouble) << rig.transcript();
  EXPECT_TRUE(rig.unit().is_tripped());
  EXPECT_EQ(rig.rig_text(), kRigText);
}

// A unit that ignores a trip: the operator must be warned at once, and again until the end.
TEST(Commission, WarnsThatTheUnitStillDrives) {
  Mistakes mistakes;
  const std::string limit = "speed_rad_per_s_max: 40";
  mistakes.rig_text.replace(mistakes.rig_text.find(limit), limit.size(),
                            "speed_rad_per_s_max: 0.1 jump_rad_max: 0.4");
  CommissionRig rig(mistakes.rig_text, mistakes.simulation, mistakes.furuta);
  rig.at_output([&] {
    rig.line().on_command = [](command_request& command) {
      command.flags = COMMAND_ENABLE;
      command.ttl_ms = 100;
      command.command_q15[0] = 1000;
    };
  });
  rig.when_said("THE UNIT STILL DRIVES", [&] { rig.stop().store(true); });
  EXPECT_EQ(rig.run(), ExitCode::kTrouble) << rig.transcript();
  EXPECT_TRUE(rig.said("THE UNIT STILL DRIVES: switch off the motor's supply")) << rig.transcript();
  EXPECT_EQ(rig.rig_text(), mistakes.rig_text);
}

// A unit that clears its trip while hands are in the rig.
TEST(Commission, EndsWhenTheUnitLeavesItsTrip) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  rig.add_rule({"Turn joint \"2\"", [&] {
                  rig.line().on_sample = [](sample_report& sample) {
                    sample.status = static_cast<std::uint8_t>(sample.status & ~STATUS_TRIPPED);
                  };
                }});
  EXPECT_EQ(rig.run(), ExitCode::kTrouble) << rig.transcript();
  EXPECT_FALSE(rig.said("Move joint")) << rig.transcript();
}

TEST(Commission, EndsAPulseOnCtrlC) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  rig.at_output([&] { rig.stop().store(true); });
  EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned) << rig.transcript();
  EXPECT_TRUE(rig.unit().is_tripped());
  EXPECT_TRUE(rig.said("Stopped. The motor is off")) << rig.transcript();
}

TEST(Commission, WritesNothingWithoutAYes) {
  for (const char* answer : {"", "n", "Y?", "yes please"}) {
    CommissionRig rig(kRigText, simulation_settings(), plant());
    rig.add_rule({"Write them?", {}, answer});
    EXPECT_EQ(rig.run(), ExitCode::kNotCommissioned);
    EXPECT_EQ(rig.file_count(), 1U);
  }
}

// A file that was edited in the meantime is not overwritten.
TEST(Commission, DoesNotWriteOverAChangedFile) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  const std::string other = std::string(kRigText) + "# later\n";
  rig.add_rule({"Write them?", [&] { proto::write_file(rig.path(), other); }, "y"});
  EXPECT_THROW(rig.run(), proto::InputError);
  EXPECT_EQ(rig.rig_text(), other);
}

// Checking one joint does not commission the rig. If the record is current, it is renewed.
TEST(Commission, ChecksSingleJoints) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  EXPECT_EQ(rig.run({"2"}), ExitCode::kNotCommissioned);
  EXPECT_FALSE(rig.said("Turn joint \"1\"")) << rig.transcript();
  EXPECT_FALSE(rig.said("Motor of joint")) << rig.transcript();
  EXPECT_TRUE(rig.said("not all joints were checked")) << rig.transcript();
  EXPECT_EQ(rig.rig_text(), kRigText);
  EXPECT_THROW(rig.run({"3"}), proto::InputError);
}

TEST(Commission, RefusesARigFileThatCannotBeWritten) {
  CommissionRig rig(kRigText, simulation_settings(), plant());
  require_writable_rig(rig.rig());
  std::filesystem::permissions(rig.path(), std::filesystem::perms::owner_read);
  EXPECT_THROW(require_writable_rig(rig.rig()), proto::InputError);
}

// Channels in list syntax cannot be edited one by one. This is reported before any work.
TEST(Commission, RefusesARigFileThatCannotBeEdited) {
  std::string text = kRigText;
  const std::string channels = "  channel { joint: \"1\" }  # arm\n  channel { joint: \"2\" }\n";
  text.replace(text.find(channels), channels.size(),
               "  channel: [{ joint: \"1\" }, { joint: \"2\" }]\n");
  CommissionRig rig(text, simulation_settings(), plant());
  EXPECT_THROW(require_writable_rig(rig.rig()), proto::InputError);
}

}  // namespace
}  // namespace daq
