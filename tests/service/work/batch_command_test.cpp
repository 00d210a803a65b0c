// rigcal batch and rigcal work, run as programs on simulated recordings.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "proto/calibration.pb.h"
#include "service/calibration/batch_run.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/service/work/small_swing.hpp"
#include "tests/support/json.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::from_json;
using test_support::refusal;

class BatchCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    int seed = 1;
    for (const char* inertia : {"0.004", "0.006"}) {
      simulate_swing(folder_, inertia, inertia, seed++);
    }
    std::filesystem::copy_file(config("rig-pendulum.textproto"), folder_.file("rig.textproto"));
  }

  std::string list(const std::string& lines) const {
    return folder_.write("list.csv", "recording,rig\n" + lines);
  }

  /// Returns the CSV table of a batch.
  std::string table_of(const std::string& options, int exit_code) const {
    const std::string csv = folder_.file("out.csv");
    const ProgramRun run =
        run_rigcal("batch " + folder_.file("list.csv") + " --quiet --csv " + csv + " " + options);
    EXPECT_EQ(run.exit_code, exit_code) << run.out << run.err;
    return contents_of(csv);
  }

  TemporaryFolder folder_;
};

// One failed calibration must not hide the others. Failures are listed apart with their reasons.
TEST_F(BatchCommand, ListsResultsAndFailures) {
  folder_.write("bad.textproto", "name: \"bad\" body { masss: 1 }");
  list(
      "0.004.csv,rig.textproto\n0.006.csv,rig.textproto\nnone.csv,rig.textproto\n"
      "\"0.004.csv; 0.006.csv\",rig.textproto\n0.004.csv,bad.textproto\n");
  const std::string results = folder_.file("results");
  const ProgramRun run = run_rigcal("batch " + folder_.file("list.csv") + " --csv " +
                                    folder_.file("e.csv") + " --json " + results);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  expect_parts(run.out, {"2 without result:", "none.csv", "does not exist; correct the list",
                         "bad.textproto", "masss"});
  const auto inertia = [&](const std::string& file) {
    const auto result = from_json<rigcal::v1::CalibrationResult>(contents_of(file));
    const auto found = std::ranges::find(result.parameters(), "pendulum.J_zz",
                                         [](const auto& p) { return p.name(); });
    return found == result.parameters().end() ? 0.0 : found->value();
  };
  // Two per mille: far above the standard deviation, far below the difference of the two rigs.
  EXPECT_NEAR(inertia(results + "/1.json"), 0.004, 8e-6);
  EXPECT_NEAR(inertia(results + "/2.json"), 0.006, 12e-6);
  EXPECT_FALSE(std::filesystem::exists(results + "/3.json"));
  EXPECT_TRUE(std::filesystem::exists(results + "/4.json"));
  expect_parts(contents_of(folder_.file("e.csv")),
               {"recording,rig,verdict,converged,parameter,value", "pendulum.J_zz", "masss"});
}

// The result of a pair is that of rigcal calibrate, on any number of threads and on other machines.
TEST_F(BatchCommand, DoesNotDependOnWhereItRuns) {
  list("0.004.csv,rig.textproto\n0.006.csv,rig.textproto\n");
  const std::string one = table_of("--threads 1", 0);
  EXPECT_EQ(table_of("--threads 2", 0), one);
  const std::string shared = "--folder " + folder_.file("shared");
  run_successfully("batch " + folder_.file("list.csv") + " --tasks 2 " + shared, {"rigcal work"});
  for (const char* task : {"0", "1"}) run_successfully("work " + shared + " --task " + task);
  EXPECT_EQ(table_of(shared, 0), one);
  run_successfully("calibrate " + folder_.file("0.004.csv") + " --rig " +
                   folder_.file("rig.textproto") + " --json " + folder_.file("alone.json"));
  const auto alone =
      from_json<rigcal::v1::CalibrationResult>(contents_of(folder_.file("alone.json")));
  const auto first = alone.parameters(0);
  EXPECT_NE(one.find(first.name()), std::string::npos);
  table_of("--json " + folder_.file("results"), 0);
  const auto batch =
      from_json<rigcal::v1::CalibrationResult>(contents_of(folder_.file("results/1.json")));
  EXPECT_EQ(batch.parameters(0).SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(batch.cost(), alone.cost());
}

// A changed recording is calibrated again; unchanged ones are not.
TEST_F(BatchCommand, ContinuesAndDetectsChangedFiles) {
  list("0.004.csv,rig.textproto\n0.006.csv,rig.textproto\n");
  const std::string shared = "--folder " + folder_.file("shared");
  const auto lines = [&] {
    std::ptrdiff_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("shared"))) {
      count += std::ranges::count(contents_of(entry.path()), '\n');
    }
    return count;
  };
  const std::string first = table_of(shared, 0);
  EXPECT_EQ(lines(), 2);
  EXPECT_EQ(table_of(shared, 0), first);
  EXPECT_EQ(lines(), 2);
  std::filesystem::copy_file(folder_.file("0.006.csv"), folder_.file("0.004.csv"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(table_of(shared, 0), first);
  EXPECT_EQ(lines(), 3);
}

TEST_F(BatchCommand, RefusesBadListsWithARemedy) {
  const auto reason = [&](const std::string& text) {
    return refusal([&] { read_batch_list(folder_.write("list.csv", text)); });
  };
  expect_parts(reason("run.csv,rig.textproto\n"), {"list.csv:1", "no column \"recording\""});
  expect_parts(reason("recording,rig\n\na.csv\n"), {"list.csv:3", "needs one rig file"});
  expect_parts(reason("recording,rig\n# none\n"), {"lists no calibrations"});
  expect_refused("batch " + folder_.file("no.csv"), {"no.csv"});
}

}  // namespace
}  // namespace service
