#include <gtest/gtest.h>

#include "service/cli/terminal.hpp"
#include "service/result/calibration_outcome.hpp"
#include "tests/service/prepared_calibration.hpp"

namespace service {
namespace {

using estimator::Stage;
using estimator::Termination;

// If a simulation fit was made, its estimates count. A joint estimation that stopped at its limit
// before is reported in the same sentence, so that later lines do not contradict it.
TEST(Ending, ReportsTheStageThatDidNotConverge) {
  estimator::Calibration calibration = prepared_calibration();
  EXPECT_EQ(describe_ending(calibration), "Converged");
  calibration.refined = true;
  calibration.refinement_termination = Termination::kCostTolerance;
  EXPECT_EQ(describe_ending(calibration), "Converged");
  calibration.termination = Termination::kMaxIterations;
  EXPECT_NE(describe_ending(calibration).find("Converged (the simulation fit"), std::string::npos);
  EXPECT_NE(describe_ending(calibration).find("iteration limit"), std::string::npos);
  calibration.refinement_termination = Termination::kMaxIterations;
  EXPECT_EQ(describe_ending(calibration), "NOT CONVERGED");
  calibration.refinement_termination = Termination::kCostTolerance;
  calibration.verdict.kind = estimator::VerdictKind::kNoFit;
  EXPECT_NE(describe_ending(calibration).find("NO RESULT"), std::string::npos);
}

// The reason for an interval of many ± standard deviations is given beside the table; not for two,
// nor if pieces agree, nor for a parameter at its bound.
TEST(Intervals, AreExplainedIfWide) {
  estimator::Calibration calibration = prepared_calibration();
  estimator::ParameterEstimate& first = calibration.parameters[0];
  calibration.agreement = {412.0, 60.0, 1e-40};
  first.half_interval = 1.97 * first.standard_deviation;
  EXPECT_EQ(describe_intervals(calibration), "");
  first.half_interval = 12.7 * first.standard_deviation;
  const std::string why = describe_intervals(calibration);
  for (const char* part : {"± 13 standard deviations", "(B.J_zz)", "pieces disagree"}) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
  calibration.agreement.p_value = 0.02;
  EXPECT_EQ(describe_intervals(calibration), "");
  calibration.agreement.p_value = 1e-40;
  first.at_bound = true;
  EXPECT_EQ(describe_intervals(calibration), "");
}

// Another stage solves another problem, so a cost a thousand times higher is no setback. Only its
// first line says so.
TEST(EstimationProgress, MarksWhereCostsRestart) {
  const auto shown = [](const std::vector<Stage>& stages) {
    testing::internal::CaptureStderr();
    {
      InterruptFlag interrupt;
      ProgressLine progress({.verbose = true});
      const estimator::CalibrationMonitor monitor = make_monitor(interrupt, progress, 1);
      for (const Stage stage : stages) {
        monitor.on_stage({stage}, {});
        for (int k = 0; k < 2 && stage != Stage::kPartComparison; ++k) {
          monitor.on_iteration({.iteration = k});
        }
      }
    }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown({Stage::kJointEstimation}).find("new cost function"), std::string::npos);
  // A stage that printed nothing leaves nothing to compare with.
  EXPECT_EQ(shown({Stage::kPartComparison, Stage::kJointEstimation}).find("new cost function"),
            std::string::npos);
  const std::string text =
      shown({Stage::kJointEstimation, Stage::kPartComparison, Stage::kSimulationFit});
  const std::size_t said = text.find("new cost function");
  ASSERT_NE(said, std::string::npos) << text;
  EXPECT_EQ(text.find("new cost function", said + 1), std::string::npos);
  EXPECT_GT(said, text.find("simulation fit: iteration 0"));
  EXPECT_LT(said, text.find("simulation fit: iteration 1"));
}

}  // namespace
}  // namespace service
