#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "service/options/parameter_values.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/seeded_runs.hpp"
#include "tests/support/texts.hpp"

// rigcal identify on random rigs whose start values are wrong, with simulated units in virtual time
// (virtual_daq.cpp):
//
//   identify_random_tests --runs=6000 --seed=1      40 rigs; 2 in every test run

namespace service {
namespace {

using test_support::replaced;

constexpr int kRunsPerRig = 150;

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// A random rig: its simulation file, and a rig file with wrong start values.
struct RandomRig {
  std::string simulation, rig;
  std::string joint;   ///< driven joint
  double gain = 0.0;   ///< true motor gain [N·m/V]
  double command = 0.0;  ///< largest command [V]
  double ratio = 0.0;    ///< largest motor torque divided by the dry friction
  int counts = 0;      ///< encoder counts per turn
};

RandomRig draw_rig(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto spread = [&](double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  };
  const bool is_furuta = seed % 2 == 0;
  RandomRig rig;
  const double torque = is_furuta ? spread(0.05, 1.0) : spread(0.02, 0.6);  // largest [N·m]
  const double command = spread(1.0, 24.0);                                 // largest [V]
  rig.gain = torque / command;
  rig.command = command;
  rig.ratio = spread(0.5, 100.0);
  const double friction = torque / rig.ratio;
  rig.counts = static_cast<int>(spread(500.0, 20000.0));
  const double wrong = spread(0.02, 50.0), limit = uniform(0.4, is_furuta ? 6.0 : 3.0);
  const double stop = limit + 0.15, viscous = spread(1e-4, 3e-3), size = spread(0.5, 2.0);

  const std::string motion = "motor { gain: " + number(rig.gain) + " }";
  const std::string dry =
      "{ viscous: " + number(viscous) + " coulomb_torque: " + number(friction) + " }";
  const std::string stops =
      "{ lower_rad: " + number(-stop) + " upper_rad: " + number(stop) + " restitution: 0.3 }";
  const std::string encoder = "encoder { counts_per_turn: " + std::to_string(rig.counts) + " }";
  const std::string furuta =
      "furuta { arm_mass_kg: 0.238 arm_center_distance_m: 0.128 arm_length_m: 0.376 "
      "shaft_inertia: 0.0004 pendulum_mass_kg: 0.428 pendulum_center_distance_m: 0.092 "
      "pendulum_inertia_xx: 0.0001 pendulum_inertia_yy: 0.00396 pendulum_inertia_zz: 0.0039 "
      "pendulum_friction { viscous: 1e-4 coulomb_torque: 9e-4 } arm_inertia_zz: " +
      number(0.0044 * size) + " arm_friction " + dry + " arm_stops " + stops + motion + " }";
  const std::string pendulum =
      "pendulum { mass_kg: 0.428 center_distance_m: 0.092 inertia: " + number(0.0039 * size) +
      " friction " + dry + " stops " + stops + motion + " }";
  rig.simulation =
      (is_furuta ? furuta : pendulum) + " unit { " + encoder + (is_furuta ? encoder : "") +
      " command_bits: 16 command_max_V: " + number(command) + " } line { baud: 921600 }";

  // Commissioning sets the stall command just above the dead band.
  const double stall = std::min(1.1 * friction / rig.gain, command);
  const std::string safety = "command_max: " + number(command) +
                             " stall { command: " + number(stall) + " } staleness_ms_max: 100";
  const std::string range = "angle_rad_min: " + number(-limit) + " angle_rad_max: " + number(limit);
  const std::string counts = "counts_per_turn: " + std::to_string(rig.counts);
  const std::string gain = "gain { value: " + number(rig.gain * wrong) + " free: true }";
  if (is_furuta) {
    rig.joint = "1";
    rig.rig = contents_of(config("rig-furuta.textproto"));
    rig.rig = replaced_all(rig.rig, "counts_per_turn: 4096", counts);
    rig.rig = replaced(rig.rig, "gain { value: 0.05 free: true }", gain);
    rig.rig = replaced(rig.rig, "control_max: 10\n", "control_max: " + number(command) + "\n");
    rig.rig = replaced(rig.rig, "command_max: 10\n", "");
    rig.rig = replaced(rig.rig, "  command_slew_per_s_max: 10000", "");
    rig.rig = replaced(rig.rig, "staleness_ms_max: 250", safety);
    rig.rig = replaced(rig.rig, "angle_rad_min: -12.6 angle_rad_max: 12.6", range);
  } else {
    rig.joint = "pivot";
    rig.rig = contents_of(config("rig-pendulum.textproto"));
    rig.rig = replaced(rig.rig, "encoder { offset { value: 0 free: true } counts_per_turn: 4096 }",
                       "motor { control_unit: \"V\" control_max: " + number(command) + " " + gain +
                           " }\n  encoder { " + counts + " }");
    rig.rig = replaced(rig.rig, "staleness_ms_max: 100", safety);
    rig.rig = replaced(rig.rig, "angle_rad_min: -12.6\n    angle_rad_max: 12.6", range);
    rig.rig = replaced(rig.rig, "unit: RADIAN }",
                       "unit: RADIAN }\n  control { joint: \"pivot\" column: \"u_V\" }");
  }
  return rig;
}

/// Tilts the table of a Furuta pendulum such that its arm rests near a limit. Commissioning then
/// finds a larger dead band.
RandomRig tilted(RandomRig rig, std::uint64_t seed) {
  std::mt19937_64 random(seed + 1'000'000);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const double limit = uniform(1.0, 3.0), stop = limit + 0.3;
  const double place = (seed % 8 < 4 ? 1.0 : -1.0) * (limit - uniform(0.1, 0.4));
  const double tilt = uniform(0.005, 0.05);
  const auto between = [](const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from);
    return text.substr(begin, text.find(to, begin) - begin);
  };
  rig.rig = replaced(rig.rig, between(rig.rig, "angle_rad_min: ", " speed_rad_per_s_max"),
                     "angle_rad_min: " + number(-limit) + " angle_rad_max: " + number(limit));
  constexpr double kWeightMoment = 9.82 * (0.238 * 0.128 + 0.428 * 0.376);  // [N·m]
  const double holding = rig.command / rig.ratio + kWeightMoment * tilt / rig.gain;
  rig.rig = replaced(rig.rig, between(rig.rig, "stall { command: ", " }"),
                     "stall { command: " + number(std::min(1.1 * holding, rig.command)));
  rig.simulation = replaced(rig.simulation, between(rig.simulation, "lower_rad: ", " restitution"),
                            "lower_rad: " + number(-stop) + " upper_rad: " + number(stop));
  rig.simulation =
      replaced(rig.simulation, "furuta {", "furuta { arm_start_angle_rad: " + number(place)) +
      " gravity { tilt_x_rad: " + number(tilt * std::sin(place)) +
      " tilt_z_rad: " + number(tilt * std::cos(place)) + " }";
  return rig;
}

/// Returns the path of the last result in the folder of an identification; empty if none.
std::string last_result(const std::string& folder) {
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const bool is_result = path.ends_with(".json") && !path.ends_with(".no-fit.json");
    if (is_result && path > last) last = path;
  }
  return last;
}

bool says_one_of(const std::string& text, const std::vector<std::string>& parts) {
  return std::ranges::any_of(
      parts, [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

/// Identifies a random rig, and checks the limits and the estimates.
/// @return whether the requested precision was reached
bool identify(const RandomRig& rig, std::uint64_t seed) {
  // The test pushes alone reach the easy target. The other one needs designed runs.
  const bool is_easy = seed % 4 < 2;
  const std::string until =
      is_easy ? " --until " + rig.joint + ".K:5%"
              : " --until " + rig.joint + ".K:0.2% --until " + rig.joint + ".b:5%";
  const TemporaryFolder folder;
  const ProgramRun run = run_rigcal("identify --rig " + folder.write("rig.textproto", rig.rig) +
                                    " --url " + folder.write("sim.textproto", rig.simulation) +
                                    " --daq " + VIRTUAL_DAQ + " --folder " + folder.file("runs") +
                                    until + " --duration 6 --runs 6 --pause 0 --quiet");
  const std::string text = run.out + run.err;
  SCOPED_TRACE(::testing::Message()
               << "seed " << seed << ", torque over friction " << rig.ratio << ", " << rig.counts
               << " counts, status " << run.exit_code << '\n'
               << text);
  EXPECT_EQ(text.find("VIOLATION"), std::string::npos);
  EXPECT_EQ(text.find("--after"), std::string::npos) << "identify has no such option";
  if (const std::string last = last_result(folder.file("runs")); !last.empty()) {
    const ParameterValues values = read_parameter_values(last);
    const auto gain =
        std::ranges::find(values.entries, rig.joint + ".K", &ParameterValues::ParameterValue::name);
    EXPECT_NE(gain, values.entries.end());
    if (gain == values.entries.end()) return false;
    // Standard deviations after few runs are uncertain themselves.
    const double tolerance = std::max(0.05 * rig.gain, 5.0 * gain->deviation);
    EXPECT_NEAR(gain->value, rig.gain, tolerance);
  }
  if (run.exit_code == 0) return true;
  EXPECT_TRUE(says_one_of(
      text, {"nothing moved", "did not move", "is not driven", "was stopped by a safety trip",
             "outside its limits", "did not converge", "Precision not reached after"}));
  // A motor several times stronger than friction, and encoders that resolve its motion.
  const bool is_reachable = is_easy && rig.ratio >= 8.0 && rig.counts >= 2000;
  EXPECT_FALSE(is_reachable && !says_one_of(text, {"a limit ended run"}));
  return false;
}

// Motor gains in the rig file are wrong by 0.02 to 50. Each identification reaches the requested
// precision, or ends with the reason. No rig leaves its limits except by its motion after a trip.
TEST(IdentifyRandomRigs, ReachesThePrecisionOrSaysWhyNot) {
  const test_support::SeededRuns& runs = test_support::seeded_runs();
  const int count = std::max(runs.count / kRunsPerRig, 1);
  int reached = 0;
  for (int k = 0; k < count; ++k) {
    const std::uint64_t seed = runs.first_seed + static_cast<std::uint64_t>(k);
    reached += identify(draw_rig(seed), seed) ? 1 : 0;
  }
  std::cout << reached << " of " << count << " rigs reached the precision\n";
}

// On a tilted table, the arm rests near one of its limits, and a push toward this limit would leave
// it. The test pushes drive the arm away from it.
TEST(IdentifyRandomRigs, PushesAwayFromANearbyLimitOnATiltedTable) {
  const test_support::SeededRuns& runs = test_support::seeded_runs();
  const int count = std::max(runs.count / kRunsPerRig, 1);
  int reached = 0;
  for (int k = 0; k < count; ++k) {
    const std::uint64_t seed = 2 * (runs.first_seed + static_cast<std::uint64_t>(k));
    reached += identify(tilted(draw_rig(seed), seed), seed) ? 1 : 0;
  }
  std::cout << reached << " of " << count << " rigs reached the precision\n";
}

// The recordings of a given result are used together with new ones, in planning and in fitting.
TEST(IdentifyRandomRigs, UsesTheRecordingsOfAGivenResult) {
  const RandomRig rig = draw_rig(4);
  const TemporaryFolder folder;
  const std::string common =
      "identify --rig " + folder.write("rig.textproto", rig.rig) + " --url " +
      folder.write("sim.textproto", rig.simulation) + " --daq " + VIRTUAL_DAQ + " --until " +
      rig.joint + ".K:1e-9 --duration 4 --runs 1 --pause 0 --quiet --folder ";
  const ProgramRun first = run_rigcal(common + folder.file("a"));
  ASSERT_EQ(first.exit_code, 2) << first.out << first.err;
  const std::string result = folder.file("a/result-01.json");
  const ProgramRun second = run_rigcal(common + folder.file("b") + " --parameters " + result);
  ASSERT_EQ(second.exit_code, 2) << second.out << second.err;
  EXPECT_EQ(second.out.find("test pushes"), std::string::npos);
  EXPECT_EQ(second.out.find("is estimated, initial value"), std::string::npos);
  const std::string both = contents_of(folder.file("b/result-01.json"));
  EXPECT_NE(both.find(folder.file("a/run-01.mcap")), std::string::npos);
  EXPECT_NE(both.find(folder.file("b/run-01.mcap")), std::string::npos);
  const auto deviation = [&](const std::string& path) {
    const ParameterValues values = read_parameter_values(path);
    return std::ranges::find(values.entries, rig.joint + ".K",
                             &ParameterValues::ParameterValue::name)
        ->deviation;
  };
  EXPECT_LT(deviation(folder.file("b/result-01.json")), deviation(result));
}

}  // namespace
}  // namespace service
