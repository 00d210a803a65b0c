#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "tests/integration/child_process.hpp"
#include "tests/studies/tests/tiny_study.hpp"

namespace service {
namespace {

using test_support::ChildProcess;
using test_support::eventually;

std::size_t lines_of(const std::string& path) {
  const std::string text = contents_of(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string study_arguments(const TemporaryFolder& folder) {
  return folder.file("study.textproto") + " --out " + folder.file("out");
}

// The whole command: tables on the terminal, raw numbers, figures and a self-contained page. A
// second call must repeat no run and print the same.
TEST(StudyCommand, WritesItsFolderAndRepeatsNothing) {
  const TemporaryFolder folder;
  write_tiny_study(folder);
  const ProgramRun first = run_rigcal(study_arguments(folder));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("run 4 of 4"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("| h [s] |"), std::string::npos) << first.out;
  // Converged here means the solver, whatever the model's misfit.
  EXPECT_NE(first.out.find("4 of 4 runs converged"), std::string::npos) << first.out;
  EXPECT_EQ(stored_runs(folder.file("out")).size(), 4U);
  EXPECT_EQ(lines_of(folder.file("out/runs.csv")), 5U);
  for (const char* file : {"out/tables.md", "out/table-step.csv", "out/figure-step.svg"}) {
    EXPECT_GT(contents_of(folder.file(file)).size(), 100U) << file;
  }
  const std::string page = contents_of(folder.file("out/index.html"));
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_NE(page.find("Tiny"), std::string::npos);

  const ProgramRun second = run_rigcal(study_arguments(folder));
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_NE(second.err.find("run 4 of 4 (4 done before)"), std::string::npos) << second.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(contents_of(folder.file("out/index.html")), page);
}

// kill -9 during runs must cost those runs only. Ctrl-C likewise, with exit status 130 and without
// tables of an incomplete study.
TEST(StudyCommand, ContinuesAfterAKillAndAfterCtrlC) {
  const TemporaryFolder folder;
  std::string values = "sweep { axis: STATE_ERROR_WEIGHT value: [1";
  for (int k = 2; k <= 300; ++k) values += ", " + std::to_string(k);
  write_tiny_study(folder, values + "] }\n");
  const auto runs = [&] { return stored_runs(folder.file("out")); };
  const std::vector<std::string> command = {
      RIGCAL_BINARY, folder.file("study.textproto"), "--out", folder.file("out"), "--jobs", "1"};
  {
    ChildProcess study(command, folder.file("log"));
    ASSERT_TRUE(eventually([&] { return runs().size() >= 3; }, 60.0)) << study.output();
    study.send_signal(SIGKILL);
    ASSERT_EQ(study.wait(10.0), 128 + SIGKILL) << "ended before it was killed";
  }
  const auto kept = runs();
  ChildProcess study(command, folder.file("log2"));
  ASSERT_TRUE(eventually([&] { return runs().size() >= kept.size() + 3; }, 60.0)) << study.output();
  study.send_signal(SIGINT);
  EXPECT_EQ(study.wait(60.0), 130) << study.output();
  EXPECT_NE(study.output().find(" done before)"), std::string::npos) << study.output();
  EXPECT_EQ(contents_of(folder.file("out/index.html")), "");
  const auto all = runs();
  for (const auto& [name, text] : kept) EXPECT_EQ(all.at(name), text) << "a run was repeated";
}

// Mistakes are reported with a remedy, and leave no folder behind.
TEST(StudyCommand, RefusesInvalidRequests) {
  const TemporaryFolder folder;
  write_tiny_study(folder);
  const ProgramRun name = run_rigcal("furta");
  EXPECT_EQ(name.exit_code, 1);
  EXPECT_NE(name.err.find("did you mean \"furuta\"?"), std::string::npos) << name.err;
  folder.write("study.textproto", "kind: SYNTHETIC\nspeed: 3\n");
  const ProgramRun field = run_rigcal(study_arguments(folder));
  EXPECT_EQ(field.exit_code, 1);
  EXPECT_NE(field.err.find("study.textproto:2:"), std::string::npos) << field.err;
  EXPECT_FALSE(std::filesystem::exists(folder.file("out")));
}

// Physical parameters have no grid: every start is run once, from ten times too large to ten times
// too small, and all reach one optimum.
TEST(StudyCommand, StartsPhysicalParametersFromFarAway) {
  const TemporaryFolder folder;
  const std::string path = write_tiny_study(
      folder, "method { name: \"physical\" physical: true }\nstarts { factor: 10 seed: 1 }\n");
  std::string text = contents_of(path);
  text.replace(text.find("SYNTHETIC"), std::string("SYNTHETIC").size(), "ROBUSTNESS");
  folder.write("study.textproto", text);
  const ProgramRun run = run_rigcal(study_arguments(folder));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(stored_runs(folder.file("out")).size(), 6U);  // reference, four corners, bounds
  EXPECT_NE(run.out.find("100 % (5/5)"), std::string::npos) << run.out;
}

// Sweeps vary quantities that only a simulator has.
TEST(StudyCommand, RefusesToSweepPhysicalParameters) {
  const TemporaryFolder folder;
  write_tiny_study(folder, "method { name: \"physical\" physical: true }\n");
  const ProgramRun run = run_rigcal(study_arguments(folder));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("the first method must use the simulator"), std::string::npos) << run.err;
}

// A missing recording is reported, with the place where recordings come from.
TEST(StudyCommand, ReportsAMissingRecording) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_rigcal("furuta --recordings " + folder.file("none") + " --out " + folder.file("out"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("none/furuta-release.mcap"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("scripts/study.sh"), std::string::npos) << run.err;
}

// Measured data may be absent from the given folder: the set is omitted and reported.
TEST(StudyCommand, LooksForMeasuredDataInTheGivenFolder) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("study.textproto",
                   "kind: PENDULUM settings { step_s: 0.01 state_error_weight: 1 }\n"
                   "set { name: \"s\" rig: \"" +
                       config("rig-pendulum.textproto") +
                       "\" folder: EVALUATION_DATA recording { name: \"r\" file: \"x.csv\" } }\n");
  const ProgramRun run =
      run_rigcal(path + " --data " + folder.file("elsewhere") + " --out " + folder.file("out"));
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_NE((run.out + run.err).find(folder.file("elsewhere") + "/x.csv"), std::string::npos)
      << run.out << run.err;
}

TEST(StudyCommand, HelpShowsExamples) {
  const ProgramRun run = run_rigcal("--help");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("rigcal-study synthetic"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace service
