#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "daq/config/scenario_config.hpp"
#include "daq/console/unit_connection.hpp"
#include "daq/loop/control_loop.hpp"
#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "tests/support/seeded_runs.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/virtual_time.hpp"

// The shipped scenarios on the shipped rigs, from the loop to the plant, in virtual time. Each run
// has another start, friction, clock and line. No plausibility check may trip. Ten hours of virtual
// time:
//   daq_plausibility_tests --gtest_filter='ShippedScenarios*' --runs=76000

namespace daq {
namespace {

namespace sim = firmware_iface::sim;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct ShippedRun {
  const char* scenario;
  const char* rig;
  const char* simulation;
  bool is_held_by_hand;  // by an operator
};

constexpr ShippedRun kRuns[] = {
    {"chirp", "furuta", "furuta-hanging", false},
    {"multisine", "furuta", "furuta-hanging", false},
    {"pulse", "furuta", "furuta-hanging", false},
    {"replay", "furuta", "furuta-hanging", false},
    {"step", "furuta", "furuta-hanging", false},
    {"swing-up", "furuta", "furuta-hanging", false},
    {"release", "furuta", "furuta", true},
    {"paper-release", "furuta", "furuta", true},
    {"pendulum-release", "pendulum", "pendulum", true},
};

std::string config_path(const std::string& kind, const char* name) {
  return test_support::source_folder() + "/configs/" + kind + "-" + name + ".textproto";
}

// Varies what differs between rigs and from day to day.
void vary(sim::SimConfig& simulation, bool is_held_by_hand, std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto vary_friction = [&](sim::JointFriction& friction) {
    friction.viscous *= between(0.5, 2.0);
    friction.coulomb *= between(0.5, 1.5);
  };
  if (auto* furuta = std::get_if<sim::FurutaParameters>(&simulation.rig)) {
    vary_friction(furuta->arm_friction);
    vary_friction(furuta->pendulum_friction);
    furuta->tilt = {between(-0.01, 0.01), 0.0, between(-0.01, 0.01)};
    simulation.start.angle_rad[0] = between(-1.0, 1.0);
    // At rest, or still swinging from the previous run.
    if (!is_held_by_hand && between(0.0, 1.0) < 0.3)
      simulation.start.angle_rad[1] = between(-0.3, 0.3);
    simulation.settings.unit.faults = {
        .seed = random(), .channel_dropout = 0.002, .dropout_max = milliseconds(8)};
  } else {
    vary_friction(std::get<sim::PendulumParameters>(simulation.rig).friction);
  }
  simulation.settings.unit.clock_error_ppm = between(-300.0, 300.0);
  simulation.settings.to_host.latency = microseconds(static_cast<int>(between(0.0, 500.0)));
  simulation.settings.to_host.faults = {.seed = random(),
                                        .frame_lost = between(0.0, 0.002),
                                        .frame_delayed = 0.01,
                                        .delay_max = milliseconds(4)};
  simulation.settings.to_unit.faults = {.seed = random(), .frame_lost = between(0.0, 0.002)};
}

// Virtual time within which a simulated hand has let go.
constexpr seconds kHoldMax(20);

// Returns whether a joint whose counts creep really moves: on a tilted table gravity and friction
// may be almost equal, so that the arm moves without a motor. Compares the mean speed of the
// last 1.8 s, a tick of the unit being 1 ms. A count of 4096 a turn is 1.5 mrad.
bool creeps(const std::vector<sim::JointState>& states, const Trip& trip) {
  constexpr std::size_t kTicks = 1800;
  if (states.size() < kTicks) return false;
  const double moved_rad = std::abs(states.back().angle_rad[trip.joint] -
                                    states[states.size() - kTicks].angle_rad[trip.joint]);
  const double counts_rad = 2.0 * 2.0 * std::numbers::pi / 4096.0;
  return std::abs(moved_rad - 1.8 * trip.value) < counts_rad + 0.05 * moved_rad;
}

struct RunResult {
  double duration_s = 0.0;  // in virtual time
  TripCause cause = TripCause::kNone;
};

RunResult run_once(const ShippedRun& run, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << run.scenario << ", seed " << seed);
  std::mt19937_64 random(seed);
  const RigConfig rig = load_rig_config(config_path("rig", run.rig));
  const ScenarioConfig scenario = load_scenario_config(config_path("scenario", run.scenario), rig);
  sim::SimConfig simulation = sim::load_sim_config(config_path("sim", run.simulation));
  vary(simulation, run.is_held_by_hand, random);
  const auto time = std::make_shared<firmware_iface::VirtualTime>();
  std::vector<sim::JointState> states;  // true ones, at the unit's ticks
  sim::SimTransport transport(
      std::make_unique<sim::UnitSimulation>(
          simulation.settings, simulation.make_plant(), time->now(),
          [&](const sim::TrueState& truth) { states.push_back(truth.state); }),
      time, "virtual unit", 921'600);
  BlackBox black_box;
  firmware_iface::UnitLink link(transport, &black_box);
  EXPECT_TRUE(link.connect().ok());
  EXPECT_EQ(find_rig_contradiction(rig, link.facts()), "");
  EXPECT_TRUE(link.start_stream(make_stream_settings(rig, link.facts())).ok());
  const LoopSettings settings{.period = compute_sample_period(rig, link.facts()),
                              .drive = scenario.scenario.command_peak() > 0.0,
                              .ttl_ms = rig.ttl_ms,
                              .after_trip_s = 0.0,
                              .joint_count = rig.channel.size(),
                              .channel = compute_channel_scales(rig)};
  const auto loop =
      std::make_unique<ControlLoop>(link, black_box, scenario.scenario, scenario.limits, settings);
  LoopRecord record;
  bool ran = false;
  // A run that misses the hold of the simulated hand would wait without end.
  while (loop->tick() && (ran || time->now() < kHoldMax)) {
    while (loop->records().try_pop(record)) ran = ran || record.phase == RunPhase::kRunning;
  }
  // A swing-up may exceed the rig's limits, and injected dropouts of a channel may follow each
  // other for longer than the rig permits. Neither is a false trip.
  const Trip* const trip = loop->trip();
  EXPECT_TRUE(ran || trip != nullptr);
  if (trip != nullptr) {
    EXPECT_TRUE(trip->cause == TripCause::kAngle || trip->cause == TripCause::kSpeed ||
                trip->cause == TripCause::kMissingChannel ||
                (trip->cause == TripCause::kCreep && creeps(states, *trip)))
        << describe_trip(*trip, scenario.limits);
  }
  return {record.observation.time_s, trip == nullptr ? TripCause::kNone : trip->cause};
}

// With this seed the true arm creeps at 0.022 to 0.025 rad/s before the run.
TEST(ShippedScenarios, RefuseAnArmThatCreepsOnATiltedTable) {
  EXPECT_EQ(run_once(kRuns[0], 6600232).cause, TripCause::kCreep);
}

TEST(ShippedScenarios, TripNoCheckOfPlausibility) {
  const int rounds = std::max(test_support::seeded_runs().count / 300, 1);
  double total_s = 0.0;
  for (int round = 0; round < rounds; ++round) {
    for (const ShippedRun& run : kRuns) {
      const auto seed = test_support::seeded_runs().first_seed + static_cast<std::uint64_t>(round);
      total_s += run_once(run, seed).duration_s;
    }
  }
  std::printf("%.2f hours of virtual time\n", total_s / 3600.0);
}

}  // namespace
}  // namespace daq
