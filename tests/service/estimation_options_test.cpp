// Effect of each option of calibrate and crossvalidate: parsing only, nothing is run.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "service/cli/estimation_options.hpp"

namespace service {
namespace {

using estimator::CalibrationOptions;

EstimationOptions parsed(const std::string& options) {
  CLI::App app;
  EstimationOptions result;
  add_estimation_options(app, result);
  app.parse("run.csv --rig rig.textproto " + options);
  return result;
}

struct NumberOption {
  const char* name;
  double CalibrationOptions::*value;
};

constexpr NumberOption kNumbers[] = {
    {"--step", &CalibrationOptions::step},
    {"--acceleration-noise", &CalibrationOptions::acceleration_noise},
    {"--state-error-weight", &CalibrationOptions::state_error_weight},
    {"--compliance", &CalibrationOptions::compliance},
    {"--damping-time", &CalibrationOptions::damping_time},
    {"--filter-cutoff", &CalibrationOptions::filter_cutoff}};

// Each number must set its own option and no other; the rest keep their defaults. Catches an option
// bound to its neighbour's variable.
TEST(EstimationOptions, NumbersSetTheirOwnOptionOnly) {
  const CalibrationOptions defaults;
  for (const NumberOption& given : kNumbers) {
    const EstimationOptions options = parsed(std::string(given.name) + " 0.125");
    for (const NumberOption& each : kNumbers) {
      EXPECT_EQ(options.calibration.*each.value,
                each.value == given.value ? 0.125 : defaults.*each.value)
          << each.name << " where " << given.name << " was given";
    }
    EXPECT_EQ(options.calibration.weighting_compliance, defaults.weighting_compliance);
    EXPECT_EQ(options.calibration.max_iterations, defaults.max_iterations);
  }
}

TEST(EstimationOptions, ChoicesReachTheirPlaces) {
  const EstimationOptions none = parsed("");
  EXPECT_FALSE(none.calibration.kind.has_value());
  EXPECT_TRUE(none.calibration.start_from_physical);
  EXPECT_FALSE(none.no_refine);
  EXPECT_FALSE(none.quiet);
  EXPECT_EQ(none.rig, "rig.textproto");
  EXPECT_EQ(none.recordings, std::vector<std::string>{"run.csv"});

  EXPECT_EQ(parsed("--parameters physical").calibration.kind, estimator::EstimateKind::kPhysical);
  EXPECT_EQ(parsed("--parameters shadow").calibration.kind, estimator::EstimateKind::kShadow);
  EXPECT_EQ(parsed("--residual explicit").calibration.residual_form,
            estimator::ResidualForm::kExplicit);
  EXPECT_EQ(parsed("--residual implicit").calibration.residual_form,
            estimator::ResidualForm::kImplicit);
  EXPECT_EQ(parsed("--states full").calibration.state_form, estimator::StateForm::kFull);
  EXPECT_EQ(parsed("--states configurations").calibration.state_form,
            estimator::StateForm::kConfigurations);
  EXPECT_FALSE(parsed("--no-start-from-physical").calibration.start_from_physical);
  EXPECT_TRUE(parsed("--no-refine").no_refine);
  EXPECT_TRUE(parsed("--quiet").quiet);
  EXPECT_EQ(parsed("--max-iterations 7").calibration.max_iterations, 7);
}

TEST(EstimationOptions, SelectionsAndEditsReachTheirPlaces) {
  const EstimationOptions options = parsed(
      "--from 1.5 --to 2.5 --segments 0,2 --free A --free B --fix C=1 --start D=2 --start E=3");
  EXPECT_EQ(options.selection.from, 1.5);
  EXPECT_EQ(options.selection.to, 2.5);
  EXPECT_EQ(options.segments, "0,2");
  EXPECT_EQ(options.edits.free, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(options.edits.fix, std::vector<std::string>{"C=1"});
  EXPECT_EQ(options.edits.start, (std::vector<std::string>{"D=2", "E=3"}));
}

}  // namespace
}  // namespace service
