#include "tests/studies/runs/run_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/studies/runs/run_csv.hpp"
#include "tests/studies/runs/study_report.hpp"
#include "tests/studies/spook/model_fits.hpp"

namespace service {
namespace {

StudyRun example(const std::string& key) {
  StudyRun run;
  run.key = key;
  run.place = {"sweep", "set", "release, 2", "model", "method", "", "", 0.01, 1e-4, 100.0};
  run.termination = "cost tolerance";
  run.converged = true;
  run.iterations = 5;
  run.cost = 1.0 / 3.0;
  run.nodes = 3;
  run.parameters = {
      {"A.J_zz", "kg·m²", 0.1, 1e-5, 0.01, false},
      {"A.J_xx", "kg·m²", 0.01, std::numeric_limits<double>::infinity(), 0.01, false}};
  run.history = {{0, 2.0, {0.01, 0.01}}, {1, 1.0 / 3.0, {0.1, 0.01}}};
  run.joints = {{"1", 1e-3, {std::nan(""), 0.5}, {0.25, 0.5}}};
  run.control = {0.0, 1.0};
  return run;
}

// A stored run must be read back unchanged. Lost digits, or an infinite standard deviation that
// becomes zero, would change tables between a first and a resumed study.
TEST(StudyRun, IsUnchangedByStorage) {
  const std::string stored = format_run(example("a"));
  const StudyRun run = parse_run(stored);
  EXPECT_EQ(run.place.recording, "release, 2");
  EXPECT_EQ(run.place.compliance, 1e-4);
  EXPECT_EQ(run.cost, 1.0 / 3.0);
  ASSERT_EQ(run.parameters.size(), 2U);
  EXPECT_TRUE(std::isinf(run.parameters[1].standard_deviation));
  EXPECT_EQ(run.history[1].values, (std::vector<double>{0.1, 0.01}));
  EXPECT_TRUE(std::isnan(run.joints[0].measured[0]));
  EXPECT_EQ(run.joints[0].simulated, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(format_run(run), stored);
}

// A cell with a comma must not become two. Parameters that a run lacks are empty, not zero.
TEST(RunCsv, QuotesCellsAndOmitsMissingParameters) {
  StudyRun other = example("b");
  other.parameters.pop_back();
  other.history.clear();
  const std::string csv = runs_csv({example("a"), other});
  EXPECT_NE(csv.find("\"release, 2\""), std::string::npos) << csv;
  EXPECT_NE(csv.find("0.3333333333333333"), std::string::npos) << csv;
  EXPECT_TRUE(csv.ends_with(",,\n")) << csv;
  const std::string histories = histories_csv({example("a"), other});
  EXPECT_TRUE(histories.ends_with(",1,0.3333333333333333,0.1,0.01\n")) << histories;
}

// A prismatic joint's errors are metres in the file, in the table of runs and in that of models.
// Those of the revolute joint beside it stay radians.
TEST(StudyRun, HasUnitsByJointType) {
  StudyRun run = example("a");
  run.joints.push_back({"rail", 2e-3, {}, {}, estimator::JointKind::kPrismatic});
  const StudyRun read = parse_run(format_run(run));
  ASSERT_EQ(read.joints.size(), 2U);
  EXPECT_EQ(read.joints[0].kind, estimator::JointKind::kRevolute);
  EXPECT_EQ(read.joints[1].kind, estimator::JointKind::kPrismatic);
  const std::string csv = runs_csv({run});
  EXPECT_NE(csv.find(",open_loop_rmse_rad 1,open_loop_rmse_m rail,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",0.001,0.002,"), std::string::npos) << csv;
  StudySet set;
  const LoadedSet loaded{&set, {}};
  const ModelFits fits{&loaded, "model", "method", {run}, {{run}}};
  const StudyTable table = model_table({&fits});
  const auto head = std::ranges::find(table.header, "open loop 1 [mrad]");
  ASSERT_NE(head, table.header.end());
  EXPECT_EQ(*(head + 1), "open loop rail [mm]");
  EXPECT_EQ(table.rows.front().back(), "2");
}

// Tables are read in terminals and in Markdown: every row has the same cells.
TEST(StudyTable, AlignsItsCells) {
  const StudyTable table{"t", "T", "", {"h", "J_zz"}, {{"0.01", "1"}, {"κ", "0.25"}}};
  EXPECT_EQ(format_table(table),
            "| h    | J_zz |\n|:-----|-----:|\n| 0.01 |    1 |\n| κ    | 0.25 |\n");
}

}  // namespace
}  // namespace service
