// The simulated unit with the rig of a rig file, in virtual time, against the rigs whose equations
// of motion were written by hand.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "proto/text/files.hpp"
#include "service/unit/linear_history.hpp"
#include "service/unit/rig_unit.hpp"
#include "tests/bench/rigs/planar_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/texts.hpp"
#include "tests/support/virtual_time.hpp"

namespace service {
namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using namespace test_support;

constexpr int kTtl_ms = 50;

/// Counts of every encoder in one sample.
using Counts = std::vector<std::int64_t>;
using Commands = std::function<std::vector<double>(double time_s)>;

/// Drives a unit in virtual time through link and line, and returns its samples.
std::vector<Counts> drive(const sim::SimulationSettings& settings,
                          std::unique_ptr<sim::UnitPlant> plant, const Commands& commands,
                          int samples) {
  sim::SimTransport transport(
      std::make_unique<sim::UnitSimulation>(settings, std::move(plant), Nanoseconds(0)),
      std::make_shared<VirtualTime>(), "virtual unit", settings.to_host.baud_rate);
  UnitLink link(transport);
  const auto facts = link.connect();
  EXPECT_TRUE(facts.ok()) << facts.error().detail;
  EXPECT_TRUE(link.start_stream({}).ok());
  link.request_trip_clear();
  std::vector<Counts> all;
  UnitSample sample;
  for (int k = 0; k < 2 * samples && static_cast<int>(all.size()) < samples; ++k) {
    if (link.read_sample(transport.now() + 10ms, sample) != ReadStatus::kSample) {
      ADD_FAILURE() << "no sample after " << all.size();
      break;
    }
    if (link.trip_clear_state() != ClearTripState::kDone) continue;
    const std::vector<double> command = commands(1e-3 * static_cast<double>(all.size()));
    if (!command.empty()) link.write_command(command, kTtl_ms);
    const auto* const first = sample.encoder_counts.data();
    all.emplace_back(first, first + facts.value().encoder_count);
  }
  return all;
}

/// Expects the counts of two units to agree within one count.
void expect_same(const std::vector<Counts>& ours, const std::vector<Counts>& judge) {
  ASSERT_EQ(ours.size(), judge.size());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    ASSERT_EQ(ours[k].size(), judge[k].size());
    for (std::size_t j = 0; j < ours[k].size(); ++j) {
      ASSERT_NEAR(static_cast<double>(ours[k][j]), static_cast<double>(judge[k][j]), 1.0)
          << "sample " << k << ", encoder " << j;
    }
  }
}

/// Returns default settings with the serial line of a unit.
sim::SimulationSettings line_like(const RigUnit& unit) {
  return {.unit = {}, .to_host = unit.settings.to_host, .to_unit = unit.settings.to_unit};
}

/// A folder with a rig file, and the unit that simulates it.
class RigUnitTest : public ::testing::Test {
 protected:
  RigUnit load(const std::string& rig, RigUnitRequest request = {}) {
    request.rig = folder_.file("rig.textproto");
    std::ofstream(request.rig) << rig;
    return load_rig_unit(request, stop_);
  }
  std::string refused(const std::string& rig, const RigUnitRequest& request = {}) {
    return refusal([&] { load(rig, request); });
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }

  test_support::TemporaryFolder folder_;
  std::atomic<bool> stop_{false};
};

std::string body(const std::string& name, double mass, double xx, double yy, double zz) {
  const auto number = [](double value) { return "{ value: " + std::to_string(value) + " } "; };
  return "body { name: \"" + name + "\" mass " + number(mass) + "inertia { xx " + number(xx) +
         "yy " + number(yy) + "zz " + number(zz) + "} }\n";
}

// The parameters of firmware_iface::sim::FurutaParameters, with dry friction.
const std::string kFuruta =
    body("A", 0.238, 0.0044, 0.0044, 0.0044) + body("B", 0.428, 1e-4, 0.00396, 0.0039) + R"(
joint { name: "arm"
  parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } }
  child { body: "A" point { x { value: -0.128 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.001 } coulomb_torque { value: 0.004 } }
  motor { control_unit: "V" control_max: 10 gain { value: 0.0729 }
          shaft_inertia { value: 0.0004 } }
  encoder { counts_per_turn: 4096 } }
joint { name: "rod"
  parent { body: "A" point { x { value: 0.248 } } axis { x: 1 } zero_direction { z: -1 } }
  child { body: "B" point { x { value: -0.092 } } axis { y: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.0001 } coulomb_torque { value: 0.0009 } }
  encoder { counts_per_turn: 4096 } }
gravity { magnitude { value: 9.82 } }
)";
const std::string kFurutaUnit = "unit { channel { joint: \"arm\" } channel { joint: \"rod\" } }\n";

std::vector<Counts> drive_furuta(sim::SimulationSettings settings, const Commands& commands,
                                 int samples) {
  sim::FurutaParameters p;
  p.arm_friction.viscous = 0.001;
  p.arm_friction.coulomb = 0.004;
  p.pendulum_friction.viscous = 0.0001;
  p.pendulum_friction.coulomb = 0.0009;
  return drive(
      settings,
      std::make_unique<sim::Plant>(std::make_unique<sim::FurutaModel>(p), sim::JointState{}),
      commands, samples);
}

std::vector<double> swing(double t) { return {t < 2.0 ? 1.5 * std::sin(6.0 * t) : 0.0}; }

// A wrong sign, axis, scale, friction or order of the joints moves the rig differently.
TEST_F(RigUnitTest, MovesTheFurutaPendulumAsTheHandWrittenRig) {
  RigUnit unit = load(kFuruta + kFurutaUnit);
  const auto ours = drive(unit.settings, std::move(unit.plant), swing, 4000);
  expect_same(ours, drive_furuta(line_like(unit), swing, 4000));
  EXPECT_GT(std::abs(ours[1000][0]) + std::abs(ours[1000][1]), 50) << "the rig did not move";
}

TEST_F(RigUnitTest, AppliesChannelOrderInversionOffsetAndModulus) {
  RigUnit unit = load(
      kFuruta +
      "unit { channel { joint: \"rod\" inverted: true } channel { joint: \"arm\" offset_rad: 0.5 "
      "} }\nrecording { time { column: \"t\" }\n"
      "  angle { joint: \"arm\" column: \"a\" unit: COUNT counts_modulo: 65536 }\n"
      "  angle { joint: \"rod\" column: \"b\" unit: RADIAN } control { joint: \"arm\" column: "
      "\"u\" "
      "} }\n");
  EXPECT_EQ(unit.settings.unit.encoder[0].modulus, 0U);
  EXPECT_EQ(unit.settings.unit.encoder[1].modulus, 65536U);
  const auto ours = drive(unit.settings, std::move(unit.plant), swing, 1500);
  const auto judge = drive_furuta(line_like(unit), swing, 1500);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    ASSERT_NEAR(static_cast<double>(ours[k][0]), static_cast<double>(-judge[k][1]), 1.0) << k;
    // The link unwraps the counter from its first value.
    ASSERT_NEAR(static_cast<double>(ours[k][1] - ours[0][1]),
                static_cast<double>(judge[k][0] - judge[0][0]), 2.0)
        << k;
  }
}

// The link to the unit is silent after 0.5 s: the unit must switch the motor off after the time to
// live, so that both rigs swing out alike.
TEST_F(RigUnitTest, SwitchesTheMotorOffWhenCommandsStop) {
  const Commands commands = [](double t) {
    return t < 0.5 ? std::vector<double>{2.0} : std::vector<double>{};
  };
  RigUnit unit = load(kFuruta + kFurutaUnit);
  const auto ours = drive(unit.settings, std::move(unit.plant), commands, 2000);
  expect_same(ours, drive_furuta(line_like(unit), commands, 2000));
}

// The motor acts 20 ms later, so the motion is that of the hand-written rig 20 samples before.
TEST_F(RigUnitTest, DelaysTheMotorsCommand) {
  const std::string late = replaced(kFuruta, "gain { value: 0.0729 }",
                                    "gain { value: 0.0729 } input_delay { value: 0.02 }");
  RigUnit unit = load(late + kFurutaUnit);
  const auto ours = drive(unit.settings, std::move(unit.plant), swing, 1000);
  const auto judge = drive_furuta(line_like(unit), swing, 1000);
  for (std::size_t k = 20; k < ours.size(); ++k) {
    for (const std::size_t j : {0U, 1U}) {
      ASSERT_NEAR(static_cast<double>(ours[k][j]), static_cast<double>(judge[k - 20][j]), 1.0) << k;
    }
  }
}

// The readings of a gyroscope and an accelerometer on the pendulum, also while the motor drives.
TEST_F(RigUnitTest, ReadsInertialSensorsAsTheHandWrittenRig) {
  RigUnit unit =
      load(kFuruta + R"(inertial_sensor { name: "imu" body: "B" point { x { value: 0.05 } }
        gyroscope { counts_per_rad_per_s: 900 } accelerometer { counts_per_m_per_s2: 400 } }
      unit { channel { joint: "arm" } channel { joint: "rod" } inertial { sensor: "imu" } }
      )",
           {.rig = {}, .positions = {"rod=1"}});
  ASSERT_EQ(unit.settings.unit.inertial_count, 1);
  EXPECT_NEAR(unit.settings.unit.inertial[0].gyro_counts, 900.0, 1e-9);
  sim::FurutaParameters p;
  p.arm_friction = {.viscous = 0.001, .coulomb = 0.004};
  p.pendulum_friction = {.viscous = 0.0001, .coulomb = 0.0009};
  sim::JointState start;
  start.angle_rad[1] = 1.0;
  sim::Plant judge(std::make_unique<sim::FurutaModel>(p), start);
  sim::InertialSensorSettings at_point;
  at_point.joint = 1;
  at_point.point = {0.05, 0.0, 0.0};
  const sim::MotorArray command = {2.0};
  for (int k = 0; k < 300; ++k) {
    const auto ours = sim::compute_exact_reading(unit.settings.unit.inertial[0],
                                                 unit.plant->compute_body_motion(0, command));
    const auto exact = sim::compute_exact_reading(at_point, judge.compute_body_motion(1, command));
    for (std::size_t axis = 0; axis < exact.size(); ++axis) {
      ASSERT_NEAR(ours[axis], exact[axis], 1e-3) << "step " << k << ", axis " << axis;
    }
    unit.plant->advance(1e-3, command);
    judge.advance(1e-3, command);
  }
}

const std::string kCartPole =
    body("cart", 0.6, 0.001, 0.001, 0.001) + body("pole", 0.12, 0.002, 0.002, 0.002) + R"(
joint { name: "rail" type: PRISMATIC
  parent { body: "ground" axis { x: 1 } zero_direction { y: 1 } }
  child { body: "cart" axis { x: 1 } zero_direction { y: 1 } }
  friction { viscous { value: 1 } }
  motor { control_unit: "1" gain { value: 1 } } encoder { counts_per_m: 20000 } }
joint { name: "pivot"
  parent { body: "cart" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "pole" point { x { value: -0.2 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-4 } } encoder { counts_per_turn: 4096 } }
gravity { magnitude { value: 9.82 } }
)";

// Without a section unit, the channels are the joints with encoders in the order of the file.
TEST_F(RigUnitTest, MovesACartPoleWithoutSectionUnit) {
  RigUnit unit = load(kCartPole);
  sim::SimulationSettings settings = line_like(unit);
  settings.unit.encoder[0].counts_per_rad = 20000;
  random_rigs::CartPoleParameters p;
  p.rail.viscous = 1.0;
  p.pivot.viscous = 1e-4;
  const auto ours = drive(unit.settings, std::move(unit.plant), swing, 3000);
  expect_same(ours, drive(settings,
                          std::make_unique<sim::Plant>(
                              std::make_unique<random_rigs::CartPoleModel>(p), sim::JointState{}),
                          swing, 3000));
  EXPECT_GT(std::abs(ours[500][0]), 50) << "the cart did not move";
}

/// Two links with a motor at each joint: the hand-written equations of one motor with a second
/// torque, integrated by Runge–Kutta steps.
class TwoMotorPlant final : public sim::UnitPlant {
 public:
  TwoMotorPlant(double gain_1, double gain_2) : gain_2_(gain_2), model_(parameters(gain_1)) {}

  int joint_count() const override { return 2; }
  const sim::JointState& state() const override { return state_; }
  void advance(double dt_s, const sim::MotorArray& command) noexcept override {
    constexpr int kSteps = 4;
    for (int k = 0; k < kSteps; ++k) step(dt_s / kSteps, command);
  }
  sim::BodyMotion compute_body_motion(int, const sim::MotorArray&) const override { return {}; }
  void set_held_by_hand(bool) override {}
  bool is_held_by_hand() const override { return false; }
  void set_joint_angle(int, double) override {}
  void restore_initial_state() override {}

 private:
  static random_rigs::DoublePendulumParameters parameters(double gain) {
    random_rigs::DoublePendulumParameters p;
    p.motor_gain = gain;
    p.friction_1.viscous = p.friction_2.viscous = 0.005;
    return p;
  }

  std::array<double, 2> accelerations(const sim::JointState& s,
                                      const sim::MotorArray& command) const {
    auto [M, Q] = model_.terms(s, command[0]);
    Q[1] += gain_2_ * command[1];
    const double determinant = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    return {(M[1][1] * Q[0] - M[0][1] * Q[1]) / determinant,
            (M[0][0] * Q[1] - M[1][0] * Q[0]) / determinant};
  }

  void step(double h, const sim::MotorArray& command) {
    sim::JointState sum = state_, at = state_;
    constexpr std::array<std::array<double, 2>, 4> kStages = {
        {{1.0 / 6.0, 0.5}, {1.0 / 3.0, 0.5}, {1.0 / 3.0, 1.0}, {1.0 / 6.0, 0.0}}};
    for (const auto& [weight, next] : kStages) {
      const std::array<double, 2> a = accelerations(at, command);
      const sim::JointState now = at;
      for (std::size_t k = 0; k < 2; ++k) {
        sum.angle_rad[k] += weight * h * now.speed_rad_s[k];
        sum.speed_rad_s[k] += weight * h * a[k];
        at.angle_rad[k] = state_.angle_rad[k] + next * h * now.speed_rad_s[k];
        at.speed_rad_s[k] = state_.speed_rad_s[k] + next * h * a[k];
      }
    }
    state_ = sum;
  }

  double gain_2_;
  random_rigs::DoublePendulumModel model_;
  sim::JointState state_;
};

// Two links as in random_rigs::DoublePendulumParameters.
const std::string kArm =
    body("upper", 0.3, 0.002, 0.002, 0.002) + body("fore", 0.2, 0.001, 0.001, 0.001) + R"(
joint { name: "shoulder"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "upper" point { x { value: -0.12 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.005 } }
  motor { control_unit: "V" control_max: 10 gain { value: 0.1 } }
  encoder { counts_per_turn: 8192 } }
joint { name: "elbow"
  parent { body: "upper" point { x { value: 0.13 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "fore" point { x { value: -0.12 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.005 } }
  motor { control_unit: "duty" gain { value: 0.3 } }
  encoder { counts_per_turn: 8192 } }
gravity { magnitude { value: 9.82 } }
)";

// The unit lists the motors in reverse order, and they have different units and ranges.
TEST_F(RigUnitTest, DrivesAChainWithTwoMotorsInTheUnitsOrder) {
  RigUnit unit = load(kArm +
                      "unit { channel { joint: \"shoulder\" } channel { joint: \"elbow\" }\n"
                      "  motor { joint: \"elbow\" } motor { joint: \"shoulder\" } }\n");
  ASSERT_EQ(unit.settings.unit.motor_count, 2);
  EXPECT_EQ(unit.settings.unit.motor[0].kind, MOTOR_DUTY);
  EXPECT_EQ(unit.settings.unit.motor[0].command_max, 1.0);
  EXPECT_EQ(unit.settings.unit.motor[1].kind, MOTOR_VOLT);
  const auto ours = drive(
      unit.settings, std::move(unit.plant),
      [](double t) {
        return std::vector{0.4 * std::sin(9.0 * t), 3.0 * std::sin(4.0 * t)};
      },
      3000);
  sim::SimulationSettings settings = line_like(unit);
  settings.unit.motor_count = 2;
  settings.unit.motor[1] = {MOTOR_DUTY, 1.0};
  settings.unit.encoder[0].counts_per_turn = settings.unit.encoder[1].counts_per_turn = 8192;
  expect_same(ours, drive(
                        settings, std::make_unique<TwoMotorPlant>(0.1, 0.3),
                        [](double t) {
                          return std::vector{3.0 * std::sin(4.0 * t), 0.4 * std::sin(9.0 * t)};
                        },
                        3000));
}

TEST_F(RigUnitTest, StartsAtGivenPositions) {
  RigUnit unit = load(kArm, {.rig = {}, .positions = {"shoulder=0.5", "elbow=-90deg"}});
  EXPECT_NEAR(unit.plant->state().angle_rad[0], 0.5, 1e-12);
  EXPECT_NEAR(unit.plant->state().angle_rad[1], -M_PI / 2.0, 1e-12);
  expect_parts(refused(kArm, {.rig = {}, .positions = {"wrist=1"}}), {"no joint \"wrist\""});
  expect_parts(refused(kCartPole, {.rig = {}, .positions = {"rail=10deg"}}),
               {"joint \"rail\" slides"});
}

TEST_F(RigUnitTest, IsMovedAndHeldByHand) {
  RigUnit unit = load(kArm);
  RigPlant& plant = *unit.plant;
  plant.set_held_by_hand(true);
  plant.set_joint_angle(1, 0.75);
  plant.advance(0.1, {5.0});
  EXPECT_NEAR(plant.state().angle_rad[0], 0.0, 1e-12);
  EXPECT_NEAR(plant.state().angle_rad[1], 0.75, 1e-12);
  EXPECT_EQ(plant.state().speed_rad_s[1], 0.0);
  plant.set_held_by_hand(false);
  plant.advance(0.1, {});
  EXPECT_LT(plant.state().angle_rad[1], 0.75);
  plant.restore_initial_state();
  EXPECT_NEAR(plant.state().angle_rad[1], 0.0, 1e-12);
}

TEST_F(RigUnitTest, HasTheFaultsAndLineOfASimulationFile) {
  const std::string config = file("sim.textproto",
                                  "line { baud: 460800 } unit { clock_error_ppm: 35 } seed: 3 "
                                  "unit_faults { channel_dropout: 0.1 dropout_channel: 1 }");
  const RigUnit unit = load(kArm, {.rig = {}, .config = config});
  EXPECT_EQ(unit.settings.to_host.baud_rate, 460800);
  EXPECT_EQ(unit.settings.unit.clock_error_ppm, 35.0);
  EXPECT_EQ(unit.settings.unit.faults.channel_dropout, 0.1);
  for (const char* part : {"furuta { arm_mass_kg: 1 arm_length_m: 1 pendulum_mass_kg: 1 "
                           "pendulum_center_distance_m: 1 }",
                           "gravity { }", "unit { encoder { } }", "unit { command_max_V: 5 }"}) {
    expect_parts(refused(kArm, {.rig = {}, .config = file("bad.textproto", part)}),
                 {"bad.textproto:1:", "comes from the rig file", "--rig"});
  }
  expect_parts(
      refused(kArm,
              {.rig = {}, .config = file("bad.textproto", "unit_faults { dropout_channel: 2 }")}),
      {"the rig has channels 0 to 1"});
}

TEST_F(RigUnitTest, RejectsRigFilesThatNoUnitCanRead) {
  const std::string unit = "unit { channel { joint: \"shoulder\" } channel { joint: \"elbow\" } }";
  expect_parts(refused(replaced(kArm, "encoder { counts_per_turn: 8192 }", "encoder { }") + unit),
               {"rig.textproto:", "has no encoder { counts_per_turn: ... }"});
  expect_parts(refused(replaced(kArm, "mass { value: 0.300000 }", "") + unit), {"rig.textproto"});
  expect_parts(refused(replaced(kArm, "control_unit: \"V\"", "control_unit: \"rpm\"")),
               {"joint \"shoulder\"", "rpm", "V, A or duty"});
  expect_parts(
      refused(body("a", 1, 1, 1, 1) + "joint { name: \"1\" parent { body: \"ground\" axis { z: 1 } "
                                      "zero_direction { x: 1 } } child { body: \"a\" axis { z: 1 } "
                                      "zero_direction { x: 1 } } }"),
      {"needs 1 to 16 channels"});
  expect_parts(refused(kArm, {.rig = {}, .values = folder_.file("missing.json")}),
               {"missing.json"});
}

TEST_F(RigUnitTest, RejectsMoreMotorsThanAUnitDrives) {
  const auto chain = [](int joints) {
    std::string rig, parent = "ground";
    for (int k = 1; k <= joints; ++k) {
      const std::string name = std::to_string(k);
      rig += body("b" + name, 0.1, 1e-3, 1e-3, 1e-3) + "joint { name: \"" + name +
             "\" parent { body: \"" + parent +
             "\" axis { z: 1 } zero_direction { x: 1 } } child "
             "{ body: \"b" +
             name +
             "\" axis { z: 1 } zero_direction { x: 1 } } motor { "
             "control_unit: \"V\" gain { value: 1 } } encoder { counts_per_turn: 1000 } }\n";
      parent = "b" + name;
    }
    return rig;
  };
  EXPECT_EQ(load(chain(8)).settings.unit.motor_count, 8);
  expect_parts(refused(chain(9)), {"has 9 motors", "at most 8"});
}

// A four-bar linkage moves as one loop, but nobody can turn one joint of it alone.
TEST_F(RigUnitTest, SimulatesLoopsButNotTheirHand) {
  std::string rig = proto::read_file(source_folder() + "/configs/rig-fourbar.textproto");
  for (int k = 0; k < 2; ++k)
    rig = replaced(rig, "encoder {}", "encoder { counts_per_turn: 4096 }");
  const RigUnit unit = load(rig);
  for (int k = 0; k < 200; ++k) unit.plant->advance(1e-3, {1.0});
  EXPECT_EQ(unit.plant->error(), "");
  EXPECT_FALSE(stop_);
  expect_parts(refused(rig, {.rig = {}, .moved_by_hand = true}), {"closed loops", "--hand"});
}

TEST(LinearHistory, InterpolatesAndKeepsTheNewestEntries) {
  LinearHistory history(1, 3);
  for (int k = 0; k < 5; ++k) history.append(k, Eigen::VectorXd::Constant(1, 10.0 * k));
  EXPECT_EQ(history.at(9.0, 0), 40.0);
  EXPECT_EQ(history.at(3.25, 0), 32.5);
  EXPECT_EQ(history.at(2.0, 0), 20.0);
  EXPECT_EQ(history.at(1.5, 0), 20.0) << "older entries are gone";
}

}  // namespace
}  // namespace service
