#include "tests/studies/study_file.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "proto/check/number_check.hpp"
#include "proto/text/input_error.hpp"
#include "tests/proto/schema_fields.hpp"
#include "tests/studies/study.pb.h"
#include "tests/studies/study_ranges.hpp"
#include "tests/studies/tests/tiny_study.hpp"

namespace service {
namespace {

std::string message_of(const std::string& path) {
  try {
    load_study(path);
  } catch (const proto::InputError& error) {
    return error.what();
  }
  return "loaded";
}

// Catches a study that is out of date with the schema, a rig or a scenario.
TEST(StudyFiles, LoadWithTheRigsAndScenariosTheyName) {
  const std::pair<const char*, StudyKind> files[] = {
      {"study-pendulum.textproto", StudyKind::kPendulum},
      {"study-furuta.textproto", StudyKind::kFuruta},
      {"study-synthetic.textproto", StudyKind::kSynthetic},
      {"study-robustness.textproto", StudyKind::kRobustness},
      {"study-robustness-automatic.textproto", StudyKind::kRobustness},
      {"study-robustness-physical.textproto", StudyKind::kRobustness}};
  for (const auto& [file, kind] : files) {
    const Study study = load_study(study_config(file));
    EXPECT_EQ(study.kind, kind) << file;
    EXPECT_FALSE(study.sets.empty()) << file;
  }
  EXPECT_TRUE(load_study(study_config("study-redundant.textproto")).redundant.has_value());
  EXPECT_TRUE(load_study(study_config("study-leg.textproto")).leg.has_value());
  EXPECT_EQ(load_study(study_config("study-arm.textproto")).arms.size(), 2U);
}

// Every setting must arrive with its unit and in its order.
TEST(StudyFile, ReadsSettingsSweepsAndTruth) {
  const TemporaryFolder folder;
  const Study study = load_study(write_tiny_study(folder));
  const StudySet& set = study.sets.front();
  EXPECT_EQ(set.settings.step, 0.01);
  EXPECT_EQ(set.settings.compliance, 1e-4);
  EXPECT_EQ(set.settings.damping_time, 0.02);
  EXPECT_EQ(set.recordings.front().selection.to, 2.0);
  ASSERT_EQ(set.truth.size(), 4U);
  EXPECT_EQ(set.truth[2].name, "1.b");
  EXPECT_EQ(set.truth[2].value, 0.001);
  EXPECT_EQ(study.sweeps.front().values, (std::vector<double>{5e-3, 1e-2, 2e-2, 4e-2}));
  EXPECT_EQ(study.methods.front().residual, estimator::ResidualForm::kImplicit);
}

// An error must be reported with its place before an hour of computing, not after.
TEST(StudyFile, RefusesFaultsWithFileAndLine) {
  struct Fault {
    const char* from;
    const char* to;
    const char* said;
  };
  const Fault faults[] = {
      {"kind: SYNTHETIC", "kind: SYNTETIC", ":1:"},
      {"title:", "tittle:", ":2:"},
      {"step_s: 0.01", "step_s: -1", ":3:12: settings.step_s is -1; it must be from 1e-6 to 1"},
      {"compliance: 1e-4", "compliance: -1", "compliance is -1; it must be from 0 to 1e6"},
      {"A.J_zz=0.003", "A.J_zz=x", "is not NAME=VALUE"},
      {"A.J_zz=0.003", "A.J_qq=1", "no parameter \"A.J_qq\""},
      {"to_s: 2", "from_s: 3 to_s: 2", "from_s must be less than to_s"},
      {"to_s: 2", "fix: \"1.q\"", "did you mean"},
      {"simulation {", "file: \"x.csv\" simulation {", "either a file or a simulation"},
      {"[5e-3, 1e-2, 2e-2, 4e-2]", "[1e-2, 5e-3]", "values must increase"},
      {"[5e-3, 1e-2, 2e-2, 4e-2]", "[0, 1e-2]", "only a compliance may be 0"},
      {"axis: STEP", "", "axis: STEP, COMPLIANCE"},
      {"rig-paper-furuta.textproto\"", "rig-none.textproto\"", "rig-none.textproto"}};
  for (const Fault& fault : faults) {
    const TemporaryFolder folder;
    std::string text = contents_of(write_tiny_study(folder));
    const std::size_t at = text.find(fault.from);
    ASSERT_NE(at, std::string::npos) << fault.from;
    text.replace(at, std::string(fault.from).size(), fault.to);
    const std::string path = folder.write("bad.textproto", text);
    const std::string message = message_of(path);
    EXPECT_NE(message.find(fault.said), std::string::npos) << fault.to << ": " << message;
    EXPECT_NE(message.find(folder.file("")), std::string::npos) << message;
  }
}

// A number without a range, or a range without its number, would not be checked.
TEST(StudyRanges, HoldEveryNumberOfAStudyFile) {
  std::set<std::string_view> used;
  for (const auto& path : test_support::numeric_fields(*rigcal::v1::Study::descriptor())) {
    SCOPED_TRACE(path.back()->full_name());
    const proto::NumberRange* range = proto::find_range(*path.back(), study_ranges());
    ASSERT_NE(range, nullptr) << "give it a row in tests/studies/study_ranges.cpp";
    used.insert(range->field);
    EXPECT_LT(range->min, range->max);
    rigcal::v1::Study study;
    const double most = test_support::put_number(study, path, 1e300);
    EXPECT_EQ(proto::find_number_error(study, study_ranges()).has_value(), !range->holds(most));
  }
  EXPECT_EQ(used.size(), study_ranges().size());
}

// Two recordings of the same name would share a row.
TEST(StudyFile, RefusesNamesGivenTwice) {
  const TemporaryFolder folder;
  const std::string path =
      write_tiny_study(folder, "method { name: \"a\" }\nmethod { name: \"a\" }\n");
  EXPECT_NE(message_of(path).find("the name \"a\""), std::string::npos) << message_of(path);
}

}  // namespace
}  // namespace service
