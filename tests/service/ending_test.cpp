#include <gtest/gtest.h>

#include "service/result/calibration_outcome.hpp"
#include "tests/service/prepared_calibration.hpp"

namespace service {
namespace {

using estimator::Termination;

// The estimates are the simulation fit's where there is one; a joint estimation that stopped at its
// limit before it is told in the same breath, so that the lines below do not contradict the first.
TEST(Ending, TellsOfTheStageThatDidNotConverge) {
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
  calibration.verdict.kind = estimator::VerdictKind::kExplainsNothing;
  EXPECT_NE(describe_ending(calibration).find("NO RESULT"), std::string::npos);
}

}  // namespace
}  // namespace service
