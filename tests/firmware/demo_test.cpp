// The demo's three scenarios on the firmware's image: recorded by rigcal-daq over its line in real
// time, calibrated by rigcal.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <sstream>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "tests/firmware/qemu_rig.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/integration/demo.hpp"

namespace service {
namespace {

using test_support::ChildProcess;
using test_support::eventually;
using test_support::QemuRig;

// Long enough for a loaded machine. No duration is asserted.
constexpr double kPatience_s = 120.0;
constexpr int kAttempts = 5;  // a machine that stalls violates time limits at random

// In sim-furuta.textproto and sim-furuta-hanging.textproto.
constexpr const char* kClockError_ppm = "35";

class FirmwareDemo : public ::testing::Test {
 protected:
  FirmwareDemo() : rig_(files_.write("rig.textproto", patient_rig())) {}

  std::unique_ptr<ChildProcess> start_daq(const QemuRig& rig, const std::string& scenario_path,
                                          const std::string& recording) {
    return std::make_unique<ChildProcess>(
        std::vector<std::string>{RIGCAL_DAQ, "run", "--not-commissioned", "--rig", rig_, "--url",
                                 rig.url(), "--scenario", scenario_path, "--out",
                                 files_.file(recording)},
        files_.file(recording + ".log"));
  }

  // The recording with the unit's true clock error. The DAQ fits the clock to arrival times. On a
  // loaded machine their delays exceed the error that a calibration tolerates, and the parameters'
  // intervals do not include a clock error.
  std::string with_known_clock(const std::string& name) {
    const std::string path = files_.file(name + ".csv");
    EXPECT_EQ(run_rigcal("export " + files_.file(name + ".mcap") + " --out " + path).exit_code, 0);
    std::istringstream rows(contents_of(path));
    std::string text;
    for (std::string row; std::getline(rows, row);) {
      const std::size_t last = row.rfind(',');
      const std::size_t clock = row.rfind(',', last - 1) + 1;
      if (!text.empty()) row.replace(clock, last - clock, kClockError_ppm);
      text += row + "\n";
    }
    EXPECT_NE(text.find(",clock_error_ppm,release_s\n"), std::string::npos);
    return files_.write(name + "-known-clock.csv", text);
  }

  // Records a scenario. On a machine that stalls, the emulator's clock is unsteady and the DAQ
  // trips or misses samples, as it must. Then the run is repeated. A firmware fault ends every
  // attempt.
  void record(const std::string& simulation, const std::string& name,
              const std::string& duration_s) {
    std::string output;
    for (int k = 0; k < kAttempts; ++k) {
      const std::string folder = files_.file("qemu-" + name + "-" + std::to_string(k));
      std::filesystem::remove(files_.file(name + ".mcap"));
      ASSERT_NO_FATAL_FAILURE(record_once(simulation, name, duration_s, folder, output));
      if (output.empty()) return;
    }
    FAIL() << output;
  }

  // Sets `output` to "" if the DAQ received every sample without a trip, else to its output.
  void record_once(const std::string& simulation, const std::string& name,
                   const std::string& duration_s, const std::string& folder, std::string& output) {
    QemuRig rig(firmware_iface::sim::load_sim_config(config(simulation + ".textproto")), folder);
    const auto daq = start_daq(
        rig, files_.write(name + ".textproto", short_scenario(name, duration_s)), name + ".mcap");
    if (name == "release") {
      ASSERT_TRUE(
          eventually([&] { return daq->says("Let go") || daq->says("TRIP: "); }, kPatience_s))
          << daq->output();
      rig.release_rig();
    }
    const bool has_ended = daq->wait(kPatience_s) == 0 && daq->says("every sample accounted for");
    output = has_ended ? "" : daq->output() + rig.failure();
    EXPECT_EQ(rig.failure(), "");
  }

  TemporaryFolder files_;
  std::string rig_;
};

// From the counts in the board's registers to the estimates, through the firmware and every
// program. Any wrong sign, unit, scale, time base or channel order moves an estimate by far more
// than its standard deviation.
TEST_F(FirmwareDemo, CalibratesToTheSimulatedRigsParameters) {
  ASSERT_NO_FATAL_FAILURE(record("sim-furuta-hanging", "pulse", "3"));
  ASSERT_NO_FATAL_FAILURE(record("sim-furuta-hanging", "swing-up", "3"));
  ASSERT_NO_FATAL_FAILURE(record("sim-furuta", "release", "5"));
  const ProgramRun run =
      run_rigcal("calibrate " + with_known_clock("release") + " " + with_known_clock("swing-up") +
                 " " + with_known_clock("pulse") + " --rig " + rig_ + " --quiet --json " +
                 files_.file("result.json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_simulated_parameters(files_.file("result.json"), 3.0);
}

// The host's program is killed while the motor turns the rig: the motor must stop.
TEST_F(FirmwareDemo, StopsTheMotorWhenTheHostIsKilled) {
  const QemuRig rig(firmware_iface::sim::load_sim_config(config("sim-furuta-hanging.textproto")),
                    files_.file("qemu"));
  const std::string path = files_.write(
      "step.textproto",
      "name: \"step\" duration_s: 60 step { motor: \"1\" command: 0.3 } limits { command_max: 1 }");
  const auto daq = start_daq(rig, path, "killed.mcap");
  ASSERT_TRUE(eventually([&] { return rig.state().output.command_q15 != 0; }, kPatience_s))
      << daq->output();
  daq->send_signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !rig.state().output.is_enabled; }, kPatience_s));
  EXPECT_EQ(rig.state().output.command_q15, 0);
  EXPECT_EQ(rig.failure(), "");
}

// rigcal-daq tests the image as any unit. Some requirements are time limits: a stalling machine
// violates them at random, a firmware fault every time.
TEST_F(FirmwareDemo, MeetsEveryRequirementOfTheProtocol) {
  std::string table;
  for (int k = 0; k < kAttempts; ++k) {
    const QemuRig rig(firmware_iface::sim::load_sim_config(config("sim-furuta-hanging.textproto")),
                      files_.file("qemu-" + std::to_string(k)));
    ChildProcess daq(
        {RIGCAL_DAQ, "conformance", "--url", rig.url(), "--command", "0.1", "--after-reset"},
        files_.file("conformance"));
    const auto exit_code = daq.wait(kPatience_s);
    table = daq.output();
    if (exit_code == 0) return;
  }
  FAIL() << table;
}

}  // namespace
}  // namespace service
