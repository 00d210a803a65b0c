#include "estimator/diagnostics/finding_text.hpp"

#include <gtest/gtest.h>

#include "estimator/model/encoder.hpp"
#include "tests/support/mechanisms/pendulum.hpp"

namespace {

using estimator::Finding;
using estimator::Severity;

constexpr double kSlipQuantum = 1.5e-3;  // [rad]

Finding slip(double size, double deviation) {
  const estimator::Encoder sensor = estimator::used_encoders(estimator::make_pendulum()).front();
  return estimator::slip_finding(sensor, "run.csv", 3.428, size, deviation, kSlipQuantum);
}

// A step within its own uncertainty is not worth a warning.
TEST(SlipFinding, IsANoteWhereTheStepIsWithinItsDeviations) {
  for (const double sign : {-1.0, 1.0}) {
    const Finding sure = slip(sign * 7.5e-3, 1.4e-3);
    EXPECT_EQ(sure.severity, Severity::kWarning);
    EXPECT_NE(sure.what.find(" slips by "), std::string::npos) << sure.what;
    EXPECT_NE(sure.what.find(sign > 0.0 ? "this much more" : "this much less"), std::string::npos);
    const Finding unsure = slip(sign * 7.5e-3, 1.6e-3);
    EXPECT_EQ(unsure.severity, Severity::kNote);
    EXPECT_NE(unsure.what.find(" may slip by "), std::string::npos) << unsure.what;
    EXPECT_EQ(unsure.what.find("this much"), std::string::npos) << unsure.what;
  }
  EXPECT_EQ(slip(7.5e-3, 0.0).severity, Severity::kWarning);  // uncertainty unknown
}

// If the model is rejected, a slip may be a model error: it is a note instead of a warning, and the
// text says so. A finding that is a note already is not changed.
TEST(Finding, IsDowngradedIfTheModelIsRejected) {
  Finding sure = slip(7.5e-3, 1e-4), unsure = slip(1e-4, 1e-4);
  const std::string sentence = unsure.what;
  estimator::doubt(sure);
  estimator::doubt(unsure);
  EXPECT_EQ(sure.severity, Severity::kNote);
  EXPECT_EQ(sure.what.find("possibly, encoder \"1\" slips"), 0U) << sure.what;
  EXPECT_EQ(unsure.what, sentence);
}

}  // namespace
