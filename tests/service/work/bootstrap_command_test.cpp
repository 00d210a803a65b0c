// rigcal bootstrap and rigcal work, run as programs on a simulated recording.
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>

#include "proto/validation.pb.h"
#include "tests/integration/child_process.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/service/work/small_swing.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/json.hpp"

namespace service {
namespace {

using test_support::ChildProcess;
using test_support::eventually;
using test_support::expect_parts;
using test_support::from_json;

class BootstrapCommand : public ::testing::Test {
 protected:
  std::string bootstrap(const std::string& options) const {
    return "bootstrap " + recording_ + " --rig " + rig_ + " --quiet " + options;
  }

  /// Returns the result of a bootstrap with these options; its time is cleared.
  rigcal::v1::BootstrapResult result_of(const std::string& options) const {
    const ProgramRun run = run_rigcal(bootstrap(options + " --json " + folder_.file("b.json")));
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2) << run.out << run.err;
    auto result = from_json<rigcal::v1::BootstrapResult>(contents_of(folder_.file("b.json")));
    result.set_wall_time_s(0.0);
    result.clear_provenance();
    return result;
  }

  std::size_t result_count() const {
    std::size_t count = 0;
    if (!std::filesystem::exists(folder_.file("draws"))) return 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("draws"))) {
      if (entry.is_directory()) continue;
      const std::string text = contents_of(entry.path());
      count += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    }
    return count;
  }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum.textproto");
  std::string recording_ = simulate_swing(folder_, "run", "0.004", 1);
};

// Results depend on the seed alone, not on the number of threads.
TEST_F(BootstrapCommand, IsReproducible) {
  const auto one = result_of("--draws 20 --threads 1");
  EXPECT_EQ(one.SerializeAsString(), result_of("--draws 20 --threads 2").SerializeAsString());
  EXPECT_NE(one.SerializeAsString(),
            result_of("--draws 20 --threads 2 --seed 2").SerializeAsString());
  ASSERT_EQ(one.methods_size(), 3);
  EXPECT_EQ(one.methods(0).draws(), 20);
  EXPECT_EQ(one.methods(2).draws(), one.blocks());
  EXPECT_EQ(one.left_out(), "block");
  EXPECT_GT(one.parameters_size(), 0);
}

// The first line is the answer; the report has a figure of the intervals.
TEST_F(BootstrapCommand, ReportsTheOutcomeInItsFirstLine) {
  const std::string page = folder_.file("b.html");
  const ProgramRun run =
      run_successfully(bootstrap("--draws 40 --method noise --plot " + page), {"coverage"});
  EXPECT_TRUE(run.out.starts_with(
      "The bootstrap confirms the reported 95 % intervals for this rig: each interval contains"))
      << run.out;
  EXPECT_NE(contents_of(page).find("noise, percentile"), std::string::npos);
  const ProgramRun few = run_rigcal(bootstrap("--draws 2 --method noise"));
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_TRUE(few.out.starts_with("There are too few draws")) << few.out;
}

// A rig that changed between two recordings: estimates differ from block to block more than sensor
// noise explains.
TEST_F(BootstrapCommand, FindsTooNarrowIntervalsOfAWrongRig) {
  const auto bootstrap_pair = [&](const std::string& name, const std::string& inertia) {
    return run_rigcal("bootstrap " + simulate_swing(folder_, "first", "0.004", 1, 12) + " " +
                      simulate_swing(folder_, name, inertia, 2, 12) + " --rig " + rig_ +
                      " --quiet --draws 40 --method blocks");
  };
  const ProgramRun same = bootstrap_pair("same", "0.004");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_TRUE(
      same.out.starts_with("The bootstrap confirms the reported 95 % intervals for this rig: "
                           "blocks of time scatter at most "))
      << same.out;
  const ProgramRun other = bootstrap_pair("other", "0.0045");
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_TRUE(
      other.out.starts_with("The bootstrap contradicts the reported 95 % intervals for this rig: "
                            "the interval of \"pendulum.J_zz\" is too narrow "
                            "(blocks of time scatter "))
      << other.out;
}

// Rigs recorded on hardware. Their reported intervals include the misfit of the model.
TEST_F(BootstrapCommand, JudgesRealRecordings) {
  const auto data = test_support::find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
  const auto first_line = [&](const std::string& recording, const std::string& rig) {
    const ProgramRun run =
        run_rigcal("bootstrap " + (*data / "real" / recording).string() + " --rig " + config(rig) +
                   " --quiet --draws 20 --method blocks");
    return run.out.substr(0, run.out.find('\n')) + run.err;
  };
  expect_parts(first_line("multiarm_single/single_pendulum_free_swing.csv --segments 1",
                          "rig-multiarm-single.textproto"),
               {"The bootstrap confirms the reported 95 % intervals for this rig: "
                "blocks of time scatter at most "});
  // "2.b" is at its lower bound, 0. Draws in which it is not have wide intervals of their own.
  expect_parts(first_line("lund_furuta/FurutaData.csv", "rig-lund-furuta.textproto"),
               {"The bootstrap confirms the reported 95 % intervals for this rig: "
                "blocks of time scatter at most 1."});
}

// Tasks of other machines lead to the same result to the last bit, also if a task runs twice.
TEST_F(BootstrapCommand, MergesTasksOfOtherMachines) {
  const std::string draws = "--draws 10 --method noise --method leave-out";
  const std::string shared = draws + " --folder " + folder_.file("draws");
  const auto local = result_of(draws);
  run_successfully(bootstrap(shared + " --tasks 2"), {"Run \"rigcal work"});
  EXPECT_EQ(result_count(), 0U);
  const std::string work = "work --folder " + folder_.file("draws") + " --task ";
  run_successfully(work + "0", {"task 0"});
  ChildProcess first({RIGCAL_BINARY, "work", "--folder", folder_.file("draws"), "--task", "1"},
                     folder_.file("first"));
  ChildProcess second({RIGCAL_BINARY, "work", "--folder", folder_.file("draws"), "--task", "1"},
                      folder_.file("second"));
  EXPECT_EQ(first.wait(120.0), 0) << first.output();
  EXPECT_EQ(second.wait(120.0), 0) << second.output();
  const std::size_t count = result_count();
  EXPECT_EQ(result_of(shared).SerializeAsString(), local.SerializeAsString());
  EXPECT_EQ(result_count(), count) << "the merge computed draws again";
  expect_refused(work + "2", {"tasks/2"});
}

// kill -9 and Ctrl-C cost the current draws; the same command continues.
TEST_F(BootstrapCommand, ContinuesAfterKillAndCtrlC) {
  const std::string options =
      "--draws 60 --method noise --threads 1 --folder " + folder_.file("draws");
  std::vector<std::string> command = {
      RIGCAL_BINARY, "bootstrap", recording_,           "--rig", rig_,
      "--draws",     "60",        "--method",           "noise", "--threads",
      "1",           "--folder",  folder_.file("draws")};
  {
    ChildProcess killed(command, folder_.file("killed"));
    ASSERT_TRUE(eventually([&] { return result_count() >= 3; }, 120.0)) << killed.output();
    killed.send_signal(SIGKILL);
    killed.wait(10.0);
  }
  const std::size_t kept = result_count();
  {
    ChildProcess stopped(command, folder_.file("stopped"));
    ASSERT_TRUE(eventually([&] { return result_count() >= kept + 3; }, 120.0));
    stopped.send_signal(SIGINT);
    EXPECT_EQ(stopped.wait(60.0), 130) << stopped.output();
    EXPECT_TRUE(stopped.says("The same command continues")) << stopped.output();
  }
  EXPECT_LT(result_count(), 60U);
  const auto resumed = result_of(options);
  EXPECT_LE(result_count(), 61U);  // half a line of the killed process may remain
  EXPECT_EQ(resumed.SerializeAsString(),
            result_of("--draws 60 --method noise").SerializeAsString());
}

TEST_F(BootstrapCommand, RefusesBadInputWithARemedy) {
  expect_refused(bootstrap("--draws 10 --method blocks --block-length 100"),
                 {"only 1 blocks", "give a shorter --block-length"});
  expect_refused(bootstrap("--draws 10 --step 0.005 --parameters shadow"),
                 {"needs physical parameters"});
  expect_refused(bootstrap("--draws 10 --folder " + recording_), {"run.csv: cannot be"});
  expect_refused(bootstrap("--draws 10 --tasks 3"), {"--folder"});
}

}  // namespace
}  // namespace service
