#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "daq/config/commission_file.hpp"
#include "proto/commission.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "tests/daq/commission_rig.hpp"
#include "tests/support/refusal.hpp"

// rigcal-daq commission from start to end on the simulated unit, in virtual time, with each wiring
// mistake injected.

namespace daq {
namespace {

using test_support::expect_absent;
using test_support::expect_parts;

void expect_run(CommissionRig& rig, ExitCode code, const std::vector<std::string>& said = {}) {
  ASSERT_EQ(rig.run(), code) << rig.transcript();
  expect_parts(rig.transcript(), said);
}

// On a correct rig only the record is written, and it is valid from then on.
TEST(Commission, WritesARecordForACorrectRig) {
  CommissionRig rig;
  expect_run(rig, ExitCode::kDone);
  expect_absent(rig.transcript(), {"FAULT", "change  "});
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
  EXPECT_EQ(without, kCommissionRigText);
  EXPECT_EQ(proto::read_file(rig.path() + ".before-commission"), kCommissionRigText);
  EXPECT_TRUE(rig.unit().is_tripped());

  // A second run on the same day must write nothing.
  expect_run(rig, ExitCode::kDone, {"its record is already dated today"});
  EXPECT_FALSE(std::filesystem::exists(rig.path() + ".before-commission-2"));
}

// The figures must match the simulated motor: dead band = friction / gain, and the inertia of an
// arm that carries a free pendulum (whose joint lets it lag).
TEST(Commission, MeasuresTheMotor) {
  CommissionRig rig;
  expect_run(rig, ExitCode::kDone);
  rigcal::v1::CommissionRecord record;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  proto::read_file(rig.path() + ".commissioned.json"), &record)
                  .ok());
  ASSERT_EQ(record.motor_size(), 1);
  const auto& motor = record.motor(0);
  const firmware_iface::sim::FurutaParameters p = shipped_furuta();
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
  CommissionRig rig;
  double before_motor_V = -1.0;
  rig.add_rule({"Release the brake", [&] {
                  before_motor_V = rig.output_peak_V();
                  rig.release_rig();
                }});
  expect_run(rig, ExitCode::kDone);
  EXPECT_EQ(before_motor_V, 0.0);
  EXPECT_LE(rig.output_peak_V(), 0.5);
  EXPECT_GT(rig.output_peak_V(), 0.4);
}

TEST(Commission, FindsAnInvertedEncoder) {
  CommissionRig rig([](Mistakes& m) { m.encoder(0).count_factor = -1.0; });
  expect_run(rig, ExitCode::kDone, {"inverted becomes true"});
  EXPECT_TRUE(rig.rig().channel[0].inverted);
  EXPECT_FALSE(rig.rig().channel[1].inverted);
  expect_parts(rig.rig_text(), {"channel { joint: \"1\" inverted: true }  # arm"});
}

// The file states "inverted" for an encoder that is not: the field is changed, not added twice.
TEST(Commission, FindsAnEncoderThatIsNotInverted) {
  CommissionRig rig([](Mistakes& m) {
    m.edit_rig_text("channel { joint: \"2\" }", "channel { joint: \"2\" inverted: true }");
  });
  expect_run(rig, ExitCode::kDone, {"inverted becomes false"});
  EXPECT_FALSE(rig.rig().channel[1].inverted);
}

// Each joint moves the other's encoder. The channel blocks are swapped with their content, and the
// motor is then tested with its joint's encoder.
TEST(Commission, FindsSwappedChannels) {
  CommissionRig rig([](Mistakes& m) {
    m.encoder(0).joint = 1;
    m.encoder(1).joint = 0;
  });
  expect_run(rig, ExitCode::kDone, {"the channels become \"2\", \"1\""});
  EXPECT_EQ(rig.rig().channel[0].joint, "2");
  EXPECT_EQ(rig.rig().channel[1].joint, "1");
}

TEST(Commission, FindsSwappedChannelsOneOfThemInverted) {
  CommissionRig rig([](Mistakes& m) {
    m.encoder(0).joint = 1;
    m.encoder(1).joint = 0;
    m.encoder(1).count_factor = -1.0;
  });
  expect_run(rig, ExitCode::kDone);
  EXPECT_EQ(rig.rig().channel[1].joint, "1");
  EXPECT_TRUE(rig.rig().channel[1].inverted);
  EXPECT_FALSE(rig.rig().channel[0].inverted);
}

// A joint that still swings must not be reported as drift: the step is repeated once it rests.
TEST(Commission, RepeatsAStepWhenAsked) {
  CommissionRig rig;
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
  expect_run(rig, ExitCode::kDone);
  EXPECT_EQ(rests, 2);
  EXPECT_EQ(turns, 2);
}

TEST(Commission, FindsTheZero) {
  CommissionRig rig([](Mistakes& m) { m.encoder(1).zero_offset_rad = 0.7; });
  expect_run(rig, ExitCode::kDone,
             {"offset_rad becomes 0.69", "counts from its power-on position",
              "to its zero position, hanging"});
  EXPECT_NEAR(rig.rig().channel[1].offset_rad, 0.7, 2e-3);
}

// The zero of an absolute encoder is kept.
TEST(Commission, FindsTheZeroOfAnAbsoluteEncoder) {
  CommissionRig rig([](Mistakes& m) {
    m.encoder(1).zero_offset_rad = -2.0;
    m.encoder(1).absolute = true;
    m.encoder(1).modulus = 4096;
  });
  expect_run(rig, ExitCode::kDone);
  expect_absent(rig.transcript(), {"counts from its power-on position"});
  EXPECT_NEAR(rig.rig().channel[1].offset_rad, -2.0, 2e-3);
}

// The same motor is correct if the rig file states a negative gain.
TEST(Commission, AcceptsANegativeGain) {
  CommissionRig rig([](Mistakes& m) {
    m.furuta.motor_gain = -m.furuta.motor_gain;
    m.edit_rig_text("value: 0.05", "value: -0.05");
  });
  expect_run(rig, ExitCode::kDone);
}

// Faults that only the operator can repair. The motor is tested only if the encoders are right.
TEST(Commission, FindsFaultsThatItCannotCorrect) {
  struct Fault {
    const char* name;
    std::function<void(Mistakes&)> make;
    std::vector<std::string> said;
    double output_V_max;
  };
  const Fault faults[] = {
      {"too few counts",
       [](Mistakes& m) { m.encoder(0).count_factor = 1.0 / 16.0; },
       {"16 times too few", "counts_per_turn: 256", "a whole turn", "The motor is not tested"},
       0.0},
      {"uncounted edges",
       [](Mistakes& m) { m.encoder(1).count_factor = 0.25; },
       {"4 times too few. The unit probably counts only one of four encoder edges"},
       0.5},
      // No order of the channels can be right.
      {"one encoder for two joints", [](Mistakes& m) { m.encoder(0).joint = 1; }, {"FAULT"}, 0.0},
      {"a dead encoder",
       [](Mistakes& m) { m.encoder(1).count_factor = 0.0; },
       {"Encoder 1 did not count", "The motor is not tested"},
       0.0},
      {"an encoder that is never read",
       [](Mistakes& m) {
         m.simulation.unit.faults.channel_dropout = 1.0;
         m.simulation.unit.faults.dropout_max = std::chrono::hours(1);
       },
       {"Encoder 1 of joint \"2\" sends no valid reading"},
       0.5},
      {"counts that drift",
       [](Mistakes& m) { m.encoder(1).drift_counts_per_s = -4.0; },
       {"Encoder 1 of joint \"2\" drifts by -4 counts per second"},
       0.5},
      {"a reversed motor",
       [](Mistakes& m) { m.furuta.motor_gain = -m.furuta.motor_gain; },
       {"moves in the negative direction under a positive command",
        "Exchange the motor's two wires, or make gain negative"},
       0.5},
      {"a dead motor",
       [](Mistakes& m) { m.furuta.motor_gain = 0.0; },
       {"did not move at 2 V (20 % of command_max). Check its brake, the motor's supply",
        "0.5 V (5 %", "1 V (10 %", "1.5 V (15 %", "2 V (20 %"},
       2.0 + 20.0 / 4096},  // one step of the converter
      {"a safety limit that ends the pulse",
       [](Mistakes& m) {
         m.edit_rig_text("speed_rad_per_s_max: 40", "speed_rad_per_s_max: 0.1 jump_rad_max: 0.4");
       },
       {"A safety limit ended the motion: 1: speed"},
       0.5}};
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    CommissionRig rig(fault.make);
    expect_run(rig, ExitCode::kNotCommissioned, fault.said);
    EXPECT_LE(rig.output_peak_V(), fault.output_V_max);
    EXPECT_EQ(rig.rig_text(), rig.first_text());
  }
}

// A motor that hardly overcomes friction: each higher level needs the operator's consent.
TEST(Commission, MeasuresALargeDeadBand) {
  CommissionRig rig([](Mistakes& m) {
    m.furuta.arm_friction.coulomb = 1.2 * m.furuta.motor_gain;  // 1.2 V of 10 V
  });
  // The default stall limit, 0.5 V, would trip while friction still holds the joint.
  expect_run(rig, ExitCode::kDone,
             {"did not move at 0.5 V", "did not move at 1 V",
              "the joint begins to move at 1.1 V, 11 % of command_max, which is large",
              "stall { command: "});
  EXPECT_GT(rig.rig().limits.motion[0].stall_command, 1.2);
  EXPECT_LT(rig.rig().limits.motion[0].stall_command, 2.4);
}

// --- How a commissioning ends ---

/// Every question of the commissioning of this rig.
constexpr const char* kQuestions[] = {
    "Do not touch the rig", "Turn joint \"1\"",  "Turn joint \"2\"",      "Move joint \"1\"",
    "Move joint \"2\"",     "Release the brake", "Keep clear, and press", "Write them?"};

// After Ctrl-C in any step the motor is off and nothing is written. The same holds if the unit is
// lost or the operator leaves.
TEST(Commission, EndsAtAnyQuestion) {
  for (const char* question : kQuestions) {
    SCOPED_TRACE(question);
    CommissionRig stopped, lost, left;
    stopped.add_rule({question, [&] { stopped.stop().store(true); }});
    expect_run(stopped, ExitCode::kNotCommissioned, {"nothing was written"});
    EXPECT_TRUE(stopped.unit().is_tripped());
    lost.add_rule({question, [&] { lost.transport().close(); }});
    expect_run(lost, ExitCode::kTrouble);
    left.add_rule({question, [&] { left.leave(); }});
    EXPECT_THROW(left.run(), proto::InputError);
    EXPECT_TRUE(left.unit().is_tripped());
    for (CommissionRig* rig : {&stopped, &lost, &left}) EXPECT_TRUE(rig->has_written_nothing());
  }
}

// A unit that restarts in the middle of a pulse must not be driven any further.
TEST(Commission, EndsWhenTheUnitRestarts) {
  CommissionRig rig;
  rig.at_output([&] { rig.unit().reset(rig.now()); });
  expect_run(rig, ExitCode::kTrouble);
  EXPECT_TRUE(rig.unit().is_tripped());
  EXPECT_EQ(rig.rig_text(), kCommissionRigText);
}

// A unit that ignores a trip: the operator must be warned at once, and again until the end.
TEST(Commission, WarnsThatTheUnitStillDrives) {
  CommissionRig rig([](Mistakes& m) {
    m.edit_rig_text("speed_rad_per_s_max: 40", "speed_rad_per_s_max: 0.1 jump_rad_max: 0.4");
  });
  rig.at_output([&] {
    rig.line().on_command = [](command_request& command) {
      command.flags = COMMAND_ENABLE;
      command.ttl_ms = 100;
      command.command_q15[0] = 1000;
    };
  });
  rig.when_said("THE UNIT STILL DRIVES", [&] { rig.stop().store(true); });
  expect_run(rig, ExitCode::kTrouble, {"THE UNIT STILL DRIVES: switch off the motor's supply"});
  EXPECT_EQ(rig.rig_text(), rig.first_text());
}

// A unit that clears its trip while hands are in the rig.
TEST(Commission, EndsWhenTheUnitLeavesItsTrip) {
  CommissionRig rig;
  rig.add_rule({"Turn joint \"2\"", [&] {
                  rig.line().on_sample = [](sample_report& sample) {
                    sample.status = static_cast<std::uint8_t>(sample.status & ~STATUS_TRIPPED);
                  };
                }});
  expect_run(rig, ExitCode::kTrouble);
  expect_absent(rig.transcript(), {"Move joint"});
}

TEST(Commission, EndsAPulseOnCtrlC) {
  CommissionRig rig;
  rig.at_output([&] { rig.stop().store(true); });
  expect_run(rig, ExitCode::kNotCommissioned, {"Stopped. The motor is off"});
  EXPECT_TRUE(rig.unit().is_tripped());
}

TEST(Commission, WritesNothingWithoutAYes) {
  for (const char* answer : {"", "n", "Y?", "yes please"}) {
    CommissionRig rig;
    rig.add_rule({"Write them?", {}, answer});
    expect_run(rig, ExitCode::kNotCommissioned);
    EXPECT_EQ(rig.file_count(), 1U);
  }
}

// A file that was edited in the meantime is not overwritten.
TEST(Commission, DoesNotWriteOverAChangedFile) {
  CommissionRig rig;
  const std::string other = kCommissionRigText + "# later\n";
  rig.add_rule({"Write them?", [&] { proto::write_file(rig.path(), other); }, "y"});
  EXPECT_THROW(rig.run(), proto::InputError);
  EXPECT_EQ(rig.rig_text(), other);
}

// Checking one joint does not commission the rig. If the record is current, it is renewed.
TEST(Commission, ChecksSingleJoints) {
  CommissionRig rig;
  EXPECT_EQ(rig.run({"2"}), ExitCode::kNotCommissioned);
  expect_absent(rig.transcript(), {"Turn joint \"1\"", "Motor of joint"});
  expect_parts(rig.transcript(), {"not all joints were checked"});
  EXPECT_EQ(rig.rig_text(), kCommissionRigText);
  EXPECT_THROW(rig.run({"3"}), proto::InputError);
}

TEST(Commission, RefusesARigFileThatCannotBeWritten) {
  CommissionRig rig;
  require_writable_rig_file(rig.rig());
  std::filesystem::permissions(rig.path(), std::filesystem::perms::owner_read);
  EXPECT_THROW(require_writable_rig_file(rig.rig()), proto::InputError);
}

// Channels in list syntax cannot be edited one by one. This is reported before any work.
TEST(Commission, RefusesARigFileThatCannotBeEdited) {
  CommissionRig rig([](Mistakes& m) {
    m.edit_rig_text("  channel { joint: \"1\" }  # arm\n  channel { joint: \"2\" }\n",
                    "  channel: [{ joint: \"1\" }, { joint: \"2\" }]\n");
  });
  EXPECT_THROW(require_writable_rig_file(rig.rig()), proto::InputError);
}

}  // namespace
}  // namespace daq
