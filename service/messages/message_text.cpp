#include "service/messages/message_text.hpp"

#include <cmath>
#include <vector>

#include "service/messages/message_table.hpp"

namespace service {

using estimator::MessageCode;
using estimator::Severity;

namespace {

estimator::Message describe_relative_error(const estimator::RelativeError& error) {
  if (error.at_noise) {
    return error.kind == estimator::PredictionKind::kTorque ? MessageCode::kTorqueNoise
                                                            : MessageCode::kReadingNoise;
  }
  constexpr MessageCode kCodes[] = {MessageCode::kMotionError, MessageCode::kPredictedMotionError,
                                    MessageCode::kTorqueError, MessageCode::kAccelerationError};
  return {
      kCodes[static_cast<int>(error.kind)],
      {{"percent", 100.0 * error.share}, {"duration", estimator::Quantity{error.horizon, "s"}}}};
}

}  // namespace

std::string severity_name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kFault:
      break;
  }
  return "fault";
}

std::string format_message(const estimator::Message& message) {
  return fill_template(find_message_row(message.code).sentence, message);
}

std::string format_error(const estimator::Message& message) {
  const std::string advice = fill_template(find_message_row(message.code).advice, message);
  return format_message(message) + (advice.empty() ? "" : "; " + advice);
}

std::string format_note(const estimator::Message& message) {
  const bool warns = estimator::severity_of(message) == Severity::kWarning;
  return (warns ? "warning: " : "") + format_message(message);
}

std::vector<std::string> format_notes(const std::vector<estimator::Message>& notes) {
  std::vector<std::string> texts;
  for (const estimator::Message& note : notes) texts.push_back(format_note(note));
  return texts;
}

std::string format_verdict(const estimator::Verdict& verdict) {
  if (verdict.reasons.empty()) return "";
  constexpr MessageCode kCodes[] = {MessageCode::kModelAccepted, MessageCode::kModelDoubtful,
                                    MessageCode::kModelApproximate, MessageCode::kModelRejected,
                                    MessageCode::kNoFit};
  estimator::Message message(kCodes[static_cast<int>(verdict.kind)],
                             {{"reasons", verdict.reasons}});
  if (std::isfinite(verdict.error.share)) {
    message.arguments.push_back({"error", std::vector{describe_relative_error(verdict.error)}});
  }
  return format_message(message);
}

FindingText describe_finding(const estimator::Finding& finding) {
  FindingText text;
  if (finding.message != estimator::Message()) {
    std::vector<estimator::Message> causes = {finding.message};
    if (const estimator::Argument::Value* joined = finding.message.find("causes")) {
      causes = std::get<std::vector<estimator::Message>>(*joined);
    }
    const MessageRow& row = find_message_row(finding.message.code);
    text.kind = find_message_row(causes.front().code).id;
    text.what = fill_template(row.sentence, finding.message);
    for (const estimator::Message& cause : causes) {
      text.advice += (text.advice.empty() ? "" : ", or ") +
                     fill_template(find_message_row(cause.code).advice, cause);
    }
    if (finding.treated) text.treatment = fill_template(row.treatment, finding.message);
  }
  if (finding.doubtful) {
    text.what = "possibly, " + text.what +
                "; the model does not fit exactly with this repair either, "
                "and a model error may cause the same residuals";
  }
  if (!finding.place.empty() && text.advice.find(finding.place) == std::string::npos) {
    text.advice += (text.advice.empty() ? "see " : "; see ") + finding.place;
  }
  return text;
}

}  // namespace service
