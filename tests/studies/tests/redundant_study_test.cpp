#include <gtest/gtest.h>

#include <algorithm>

#include "proto/text/input_error.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/studies/study_file.hpp"

namespace service {
namespace {

constexpr const char* kTiny = R"(kind: REDUNDANT
redundant {
  noise {
    gyroscope_rad_s: 2e-3 accelerometer_m_s2: 0.02 force_N: 0.05 moment_Nm: 5e-3 encoder_rad: 1e-3
  }
  chain {
    links: 3
    repetitions: 30
    seed: 2
    angle_error_rad: 0.8
    rate_error_rad_s: 1.8
    dynamics_error: 100
    records: 1
    duration_s: 0.2
    rate_Hz: 100
    jerk: 5
  }
  robot {
    rig: "robot.textproto"
    wrench: "1"
    joints_without_encoder: "2"
    amplitude_rad: 0.3
    frequency_min_Hz: 0.2
    frequency_max_Hz: 0.4
    duration_s: 2
    rate_Hz: 100
    jerk: 20
  }
}
)";

std::string table_value(const std::string& csv, const std::string& row, int column) {
  std::size_t at = csv.find("\n" + row + ",");
  if (at == std::string::npos) return "";
  ++at;
  for (int i = 0; i < column; ++i) at = csv.find(',', at) + 1;
  return csv.substr(at, csv.find_first_of(",\n", at) - at);
}

// The whole command on chains of three: the right motion from a distant prior, errors close to what
// the sensors permit, and data for other programs to repeat it. The robot's file is missing.
TEST(RedundantStudy, FindsMotionsAndWritesItsFolder) {
  const TemporaryFolder folder;
  const std::string config = folder.write("study.textproto", kTiny);
  const ProgramRun run = run_rigcal(config + " --out " + folder.file("out"));
  EXPECT_NE(contents_of(folder.file("out/index.html")).find("robot.textproto"), std::string::npos)
      << run.out << run.err;
  const std::string draws = contents_of(folder.file("out/draws.jsonl"));
  EXPECT_EQ(std::count(draws.begin(), draws.end(), '\n'), 30);
  const std::string instant = contents_of(folder.file("out/table-instant.csv"));
  const double over = std::stod("0" + table_value(instant, "‖e_q‖ [rad]", 6));
  EXPECT_GT(over, 0.7) << instant;  // thirty draws of three angles: within about 8 %
  EXPECT_LT(over, 1.3) << instant;
  const std::string convergence = contents_of(folder.file("out/table-convergence.csv"));
  EXPECT_EQ(table_value(convergence, "converged", 1), "100 %") << convergence;
  EXPECT_GE(std::stod("0" + table_value(convergence, "correct", 1)), 90.0) << convergence;
  EXPECT_NE(contents_of(folder.file("out/table-records.csv")).find("smoothed"), std::string::npos);
}

// A cart's position is in metres, in tables and above plots.
TEST(RedundantStudy, ErrorsAreInTheUnitsOfTheirJoints) {
  const TemporaryFolder folder;
  folder.write("robot.textproto", contents_of(config("rig-cartpole.textproto")));
  std::string text = kTiny;
  const std::size_t chain = text.find("  chain {"), robot = text.find("  robot {");
  text.erase(chain, robot - chain);
  const auto set = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  set("wrench: \"1\"", "wrench: \"pivot\"");
  set("joints_without_encoder: \"2\"",
      "joints_without_encoder: \"rail\" joints_without_encoder: \"pivot\"");
  const std::string path = folder.write("study.textproto", text);
  const ProgramRun run = run_rigcal(path + " --out " + folder.file("out"));
  EXPECT_NE(contents_of(folder.file("out/table-robot.csv")).find("largest error [mrad or mm]"),
            std::string::npos)
      << run.out << run.err;
  const std::string page = contents_of(folder.file("out/index.html"));
  EXPECT_NE(page.find("error [mm]"), std::string::npos);
  EXPECT_NE(page.find("error [mrad]"), std::string::npos);
}

// An error must be reported with its place before anything is computed.
TEST(RedundantStudy, RefusesFaultsWithFileAndLine) {
  const TemporaryFolder folder;
  folder.write("robot.textproto", contents_of(config("rig-furuta.textproto")));
  struct Fault {
    const char* from;
    const char* to;
    const char* said;
  };
  const Fault faults[] = {{"links: 3", "", "links must be given"},
                          {"repetitions: 30", "repetitions: -1", "repetitions is -1"},
                          {"force_N: 0.05", "", "force_N must be given"},
                          {"jerk: 5", "", "jerk must be given"},
                          {"joints_without_encoder: \"2\"", "joints_without_encoder: \"elbow\"",
                           "the rig has no joint \"elbow\""},
                          {"wrench: \"1\"", "gyroscope: \"head\"", "no inertial sensor \"head\""},
                          {"frequency_min_Hz: 0.2", "frequency_min_Hz: 0.9",
                           "frequency_min_Hz must not exceed frequency_max_Hz"}};
  for (const Fault& fault : faults) {
    std::string text = kTiny;
    const std::size_t at = text.find(fault.from);
    ASSERT_NE(at, std::string::npos) << fault.from;
    text.replace(at, std::string(fault.from).size(), fault.to);
    const std::string path = folder.write("bad.textproto", text);
    try {
      load_study(path);
      ADD_FAILURE() << fault.to << ": loaded";
    } catch (const proto::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(fault.said), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.textproto"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace service
