#include "estimator/diagnostics/signal/finding_text.hpp"

#include <gtest/gtest.h>

#include "estimator/model/encoder.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kSlipQuantum = 1.5e-3;  // [rad]

Finding slip(double size, double deviation) {
  const Encoder sensor = used_encoders(make_pendulum()).front();
  return make_slip_finding(sensor, "run.csv", 3.428, size, deviation, kSlipQuantum);
}

// A step within its own uncertainty is not worth a warning.
TEST(SlipFinding, IsANoteIfTheSlipIsNotSignificant) {
  for (const double sign : {-1.0, 1.0}) {
    const Finding sure = slip(sign * 7.5e-3, 1.4e-3);
    EXPECT_EQ(sure.severity, Severity::kWarning);
    EXPECT_EQ(sure.message.code, MessageCode::kEncoderSlip);
    EXPECT_EQ(service::format_message(sure.message),
              std::string("encoder \"1\" slips by ") +
                  (sign > 0.0 ? "0.0075 rad (5 counts)" : "-0.0075 rad (-5 counts)") +
                  ", ± 0.0014 rad, at 3.428 s: afterwards it reads " +
                  (sign > 0.0 ? "more" : "less") + " by this amount");
    const Finding unsure = slip(sign * 7.5e-3, 1.6e-3);
    EXPECT_EQ(unsure.severity, Severity::kNote);
    EXPECT_EQ(unsure.message.code, MessageCode::kPossibleSlip);
  }
  EXPECT_EQ(slip(7.5e-3, 0.0).severity, Severity::kWarning);  // uncertainty unknown
}

// If the model is rejected, a slip may be a model error: it is a note instead of a warning, and the
// text says so. A finding that is a note already is not changed.
TEST(Finding, IsDowngradedIfTheModelIsRejected) {
  Finding sure = slip(7.5e-3, 1e-4), unsure = slip(1e-4, 1e-4);
  const std::string sentence = service::describe_finding(unsure).what;
  downgrade_to_note(sure);
  downgrade_to_note(unsure);
  EXPECT_EQ(sure.severity, Severity::kNote);
  const std::string doubted = service::describe_finding(sure).what;
  EXPECT_EQ(doubted.find("possibly, encoder \"1\" slips"), 0U) << doubted;
  EXPECT_EQ(service::describe_finding(unsure).what, sentence);
}

}  // namespace
}  // namespace estimator
