#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/open/open_transport.hpp"
#include "tests/integration/child_process.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

// The program itself, run as a user would.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using test_support::expect_parts;
using test_support::TemporaryFolder;

/// rigcal-sim as a child process.
class Program : public test_support::ChildProcess {
 public:
  Program(std::vector<std::string> arguments, std::string output)
      : ChildProcess(
            [&] {
              arguments.insert(arguments.begin(), RIGCAL_SIM);
              return arguments;
            }(),
            std::move(output)) {}

  /// Sends the signal (0: none), waits, and returns the exit code.
  int finish(int signal_number) {
    if (signal_number != 0) send_signal(signal_number);
    return wait(60.0).value_or(-1);
  }

  /// Waits until the program has printed a line.
  void wait_for_output() const {
    while (output().find('\n') == std::string::npos) std::this_thread::sleep_for(5ms);
  }

  /// The number printed as "name: number".
  std::uint64_t number(const std::string& name) const {
    const std::string text = output();
    const std::size_t at = text.find("\n" + name + ": ");
    return at == std::string::npos ? ~0ULL : std::stoull(text.substr(at + name.size() + 3));
  }
};

const std::string kConfig = test_support::source_folder() + "/configs/sim-furuta.textproto";

// The program's final counts, the link's counts and the truth file must agree to the sample.
TEST(RigcalSim, CountsWhatItSentAndWritesTheTruth) {
  const TemporaryFolder folder;
  const std::string link_path = folder.file("rig0");
  const std::string truth_path = folder.file("truth.csv");
  Program program(
      {"--config", kConfig, "--link", link_path, "--truth", truth_path, "--clock-ppm", "100"},
      folder.file("out.txt"));
  program.wait_for_output();
  EXPECT_EQ(program.output(), "pty://" + link_path + "?baud=921600\n");

  auto opened = open_transport("pty://" + link_path + "?baud=921600");
  ASSERT_TRUE(opened.ok()) << opened.error().detail;
  UnitLink link(*opened.value());
  const auto facts = link.connect({.reply_timeout = 200ms, .attempts_max = 25});
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  ASSERT_TRUE(link.start_stream({}).ok());
  std::map<std::uint64_t, std::array<std::int64_t, 2>> counts;
  UnitSample sample;
  for (int k = 0; k < 500; ++k) {
    ASSERT_EQ(link.read_sample(opened.value()->now() + 2s, sample), ReadStatus::kSample);
    counts[sample.sequence] = {sample.encoder_counts[0], sample.encoder_counts[1]};
  }
  ASSERT_TRUE(link.stop_stream().ok());
  EXPECT_EQ(program.finish(SIGINT), 0) << "Ctrl-C is a proper way to end it";
  EXPECT_FALSE(std::filesystem::exists(link_path)) << "the link goes with it";
  EXPECT_EQ(program.number("samples_sent"),
            link.counters().samples_received + link.counters().samples_lost);
  EXPECT_EQ(program.number("streams"), 1U);
  EXPECT_EQ(program.number("trips_boot"), 1U);

  std::ifstream truth(truth_path);
  std::string row;
  std::getline(truth, row);
  std::size_t matched = 0;
  while (std::getline(truth, row)) {
    std::vector<std::string> cells;
    std::istringstream line(row);
    for (std::string cell; std::getline(line, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 12U) << row;
    if (cells[2].empty()) continue;
    const auto found = counts.find(std::stoull(cells[2]));
    if (found == counts.end()) continue;
    EXPECT_EQ(std::stoll(cells[7]), found->second[0]);
    EXPECT_EQ(std::stoll(cells[8]), found->second[1]);
    ++matched;
  }
  EXPECT_EQ(matched, counts.size());
}

TEST(RigcalSim, ServesTcpOnAFreePort) {
  const TemporaryFolder folder;
  Program program({"--config", kConfig, "--tcp", "0"}, folder.file("out.txt"));
  program.wait_for_output();
  const std::string url = program.output().substr(0, program.output().find('\n'));
  EXPECT_TRUE(url.starts_with("tcp://127.0.0.1:")) << url;
  auto opened = open_transport(url);
  ASSERT_TRUE(opened.ok()) << opened.error().detail;
  UnitLink link(*opened.value());
  EXPECT_TRUE(link.connect({.reply_timeout = 200ms, .attempts_max = 25}).ok());
  EXPECT_EQ(program.finish(SIGTERM), 0);
}

// Bad input gives one message that names the fault and an exit code, and overwrites nothing.
TEST(RigcalSim, RefusesBadInputWithOneMessage) {
  const TemporaryFolder folder;
  const std::string bad = folder.file("bad.textproto");
  std::ofstream(bad) << "furuta {\n  arm_mas_kg: 1\n}\n";
  const std::string kept = folder.file("kept.csv");
  std::ofstream(kept) << "precious\n";
  const auto complaint = [&](std::vector<std::string> arguments) {
    Program program(std::move(arguments), folder.file("out.txt"));
    EXPECT_NE(program.finish(0), 0);
    return program.output();
  };
  expect_parts(complaint({"--config", bad}), {"bad.textproto:2:"});
  expect_parts(complaint({"--config", folder.file("none")}), {"none"});
  expect_parts(complaint({"--config", kConfig, "--truth", kept}), {"exists already"});
  expect_parts(complaint({"--config", kConfig, "--link", kept}), {"exists already"});
  expect_parts(complaint({"--config", kConfig, "--tcp", "0", "--link", "x"}), {"--link"});
  expect_parts(complaint({}), {"nothing to simulate", "--rig", "--config"});
  expect_parts(complaint({"--config", kConfig, "--at", "1=0.5"}), {"--at", "--rig"});
  expect_parts(complaint({"--rig", kConfig}), {"sim-furuta.textproto:"});
  std::string content;
  std::ifstream(kept) >> content;
  EXPECT_EQ(content, "precious");
}

// Numbers on the command line, e.g. a port beyond 65535 or an infinite time, all with one exit
// status.
TEST(RigcalSim, RefusesImpossibleNumbers) {
  const TemporaryFolder folder;
  for (const auto& [option, value] : std::map<std::string, std::vector<std::string>>{
           {"--tcp", {"70000", "127.0.0.1:70000", "-1", "x", ""}},
           {"--duration", {"nan", "inf", "0", "-1", "1e300"}},
           {"--clock-ppm", {"nan", "inf", "1e9"}},
           {"--baud", {"-1", "99999999999"}},
           {"--truth", {""}},
           {"--priority", {"100"}}}) {
    for (const std::string& text : value) {
      Program program({"--config", kConfig, option + "=" + text}, folder.file("out.txt"));
      EXPECT_EQ(program.finish(0), 1) << option << ' ' << text;
      EXPECT_NE(program.output(), "");
    }
  }
  Program unknown({"--frobnicate"}, folder.file("out.txt"));
  EXPECT_EQ(unknown.finish(0), 1);
}

// A killed simulation leaves its link, and the next terminal gets the same number, so the link
// alone does not distinguish the two. A live simulation must keep its link.
TEST(RigcalSim, ReplacesOnlyTheLinkOfAKilledSimulation) {
  const TemporaryFolder folder;
  const std::string link = folder.file("rig");
  {
    Program killed({"--config", kConfig, "--link", link}, folder.file("first.txt"));
    killed.wait_for_output();
    killed.finish(SIGKILL);
  }
  ASSERT_TRUE(std::filesystem::is_symlink(link));
  Program alive({"--config", kConfig, "--link", link}, folder.file("second.txt"));
  alive.wait_for_output();
  expect_parts(alive.output(), {"pty://" + link});

  std::filesystem::create_directory(folder.file("sub"));
  for (const std::string& same : {link, folder.file("sub/../rig")}) {
    Program refused({"--config", kConfig, "--link", same}, folder.file("third.txt"));
    EXPECT_EQ(refused.finish(0), 1);
    expect_parts(refused.output(), {"is in use by another rigcal-sim"});
  }
  EXPECT_EQ(alive.finish(SIGTERM), 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(link)));
}

// Nothing is overwritten, not even a symbolic link without a target.
TEST(RigcalSim, DoesNotFollowLinks) {
  const TemporaryFolder folder;
  for (const std::string name : {"truth.csv", "truth.csv.textproto"}) {
    std::filesystem::create_symlink(folder.file("elsewhere"), folder.file(name));
    Program program({"--config", kConfig, "--truth", folder.file("truth.csv"), "--duration", "1"},
                    folder.file("out.txt"));
    EXPECT_EQ(program.finish(0), 1);
    expect_parts(program.output(), {name + ": exists already"});
    EXPECT_FALSE(std::filesystem::exists(folder.file("elsewhere")));
    std::filesystem::remove(folder.file(name));
    EXPECT_FALSE(std::filesystem::exists(folder.file("truth.csv"))) << "half of a pair";
  }
  std::filesystem::create_symlink(folder.file("elsewhere"), folder.file("rig"));
  Program program({"--config", kConfig, "--link", folder.file("rig")}, folder.file("out.txt"));
  EXPECT_EQ(program.finish(0), 1);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("rig")));
}

}  // namespace
