#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "daq/config/scenario_config.hpp"
#include "proto/text/files.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/texts.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(test_support::source_folder()) / "configs";

// Every shipped scenario, with a rig on which a unit can run it.
struct Case {
  std::string scenario;
  std::string rig;
};

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(kConfigs)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("scenario-")) continue;
    const bool pendulum = name.find("pendulum") != std::string::npos;
    found.push_back({name, pendulum ? "rig-pendulum.textproto" : "rig-furuta.textproto"});
  }
  std::sort(found.begin(), found.end(),
            [](const Case& a, const Case& b) { return a.scenario < b.scenario; });
  return found;
}

// The loop's input and output at each sample from the start of the scenario.
struct Decision {
  daq::Observation seen;  // time since the start
  double requested = 0.0;
  double sent = 0.0;
};

// The run of rigcal-daq in virtual time, with position limits so wide that nothing ends it.
std::vector<Decision> run_on_unit(const std::string& rig_path, const std::string& scenario_path) {
  const daq::RigConfig rig = daq::load_rig_config(rig_path);
  const daq::ScenarioConfig scenario = daq::load_scenario_config(scenario_path, rig);
  daq::SafetyLimits limits = scenario.limits;
  for (daq::JointLimits& joint : limits.joint) {
    joint.angle_rad_min = -1e6;
    joint.angle_rad_max = joint.speed_rad_per_s_max = joint.jump_rad_max = 1e6;
  }
  daq::LoopSettings settings = daq::furuta_settings();
  settings.joint_count = rig.channel.size();
  settings.drive = scenario.scenario.command_peak() > 0.0;
  daq::SimulatedRig unit(scenario.scenario, settings, daq::simulation_settings(), limits);
  std::vector<Decision> decisions;
  double start_s = 0.0;
  const auto keep = [&](daq::SimulatedRig& now, int) {
    now.supervisor().poll();
    const daq::LoopRecord& record = now.supervisor().last_record();
    if (record.phase <= daq::RunPhase::kArming) return;
    EXPECT_NE(record.phase, daq::RunPhase::kTripped);
    if (decisions.empty()) start_s = record.observation.time_s;
    decisions.push_back({record.observation, record.requested[0], record.sent[0]});
    decisions.back().seen.time_s = std::round((record.observation.time_s - start_s) * 1e6) / 1e6;
  };
  constexpr int kTicks = 36'000;  // longer than any scenario that does not wait for an operator
  unit.run(keep, kTicks, 0);
  if (scenario.scenario.command_peak() > 0.0) keep(unit, 0);  // the tick that ended the run
  return decisions;
}

std::vector<Decision> run_on_unit(const Case& config) {
  return run_on_unit((kConfigs / config.rig).string(), (kConfigs / config.scenario).string());
}

service::Scenario load_for_simulation(const Case& config) {
  return service::load_scenario((kConfigs / config.scenario).string(),
                                service::load_rig((kConfigs / config.rig).string()));
}

class EveryScenario : public ::testing::TestWithParam<Case> {};

// A scenario is one signal, whoever reads its file. With the loop's observations, the simulation's
// excitation must give exactly the loop's commands. Catches a second parser or excitation that
// deviates: other phases of a multisine, a replay that holds its last row.
TEST_P(EveryScenario, CommandsTheSameForTheSameMotion) {
  const std::vector<Decision> decisions = run_on_unit(GetParam());
  ASSERT_GT(decisions.size(), 4000U);
  daq::Scenario excitation = load_for_simulation(GetParam()).excitation;
  for (const Decision& decision : decisions) {
    ASSERT_EQ(excitation.compute_command(decision.seen), decision.requested)
        << "at " << decision.seen.time_s << " s";
  }
}

// For commands that do not depend on the motion, both programs must agree sample by sample, limits
// and the end included.
TEST_P(EveryScenario, IsSimulatedWithTheCommandsOfTheRun) {
  const service::Rig rig = service::load_rig((kConfigs / GetParam().rig).string());
  const service::Scenario scenario = load_for_simulation(GetParam());
  if (scenario.excitation.command_peak() > 0.0 && !scenario.excitation.is_open_loop()) {
    GTEST_SKIP() << "what it commands depends on the motion of its plant";
  }
  const service::SimulatedRun run = service::simulate(rig, scenario, 1e-3);
  const std::vector<Decision> decisions = run_on_unit(GetParam());
  if (scenario.excitation.command_peak() == 0.0) {
    EXPECT_TRUE((run.controls.array() == 0.0).all());
    for (const Decision& decision : decisions) ASSERT_EQ(decision.sent, 0.0);
    return;
  }
  ASSERT_EQ(static_cast<std::size_t>(run.controls.rows()), decisions.size());
  for (std::size_t k = 0; k < decisions.size(); ++k) {
    ASSERT_EQ(run.controls(static_cast<Eigen::Index>(k), 0), decisions[k].sent)
        << "sample " << k << " at " << decisions[k].seen.time_s << " s";
  }
}

// A command with a slew limit, of the rig or of the scenario, is a ramp in both programs. It
// changes by no more than the limit per sample.
TEST(SlewedCommand, IsTheSameRampForBothPrograms) {
  const test_support::TemporaryFolder folder;
  const std::string rig = folder.file("rig.textproto");
  const std::string scenario = folder.file("scenario.textproto");
  std::ofstream(rig) << test_support::replaced(
      proto::read_file((kConfigs / "rig-furuta.textproto").string()),
      "command_slew_per_s_max: 10000", "command_slew_per_s_max: 400");
  for (const double slew : {400.0, 100.0}) {
    SCOPED_TRACE(slew);
    std::ofstream(scenario) << "name: \"pulse\" duration_s: 0.1\n"
                               "pulse { motor: \"1\" command: 2 start_s: 0.02 width_s: 0.04 }\n"
                            << (slew == 400.0 ? "" : "limits { command_slew_max: 100 }");
    const std::vector<Decision> decisions = run_on_unit(rig, scenario);
    const service::Rig simulated = service::load_rig(rig);
    const service::SimulatedRun run =
        service::simulate(simulated, service::load_scenario(scenario, simulated), 1e-3);
    ASSERT_EQ(static_cast<std::size_t>(run.controls.rows()), decisions.size());
    double fastest = 0.0;
    for (std::size_t k = 0; k < decisions.size(); ++k) {
      // Steps of the unit's clock, in whole microseconds, differ from 1 ms by the round-off of
      // seconds below 1: 2^-53 of them, times the slew, at some twenty samples of a ramp.
      ASSERT_NEAR(run.controls(static_cast<Eigen::Index>(k), 0), decisions[k].sent, 1e-11) << k;
      const double before = k == 0 ? 0.0 : decisions[k - 1].sent;
      fastest = std::max(fastest, std::abs(decisions[k].sent - before));
    }
    EXPECT_NEAR(fastest, slew * 1e-3, 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, EveryScenario, ::testing::ValuesIn(cases()),
                         [](const auto& entry) {
                           std::string name = fs::path(entry.param.scenario).stem().string();
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
