#include "service/messages/message_text.hpp"

#include "service/messages/message_table.hpp"

namespace service {

using estimator::MessageCode;
using estimator::Severity;

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
                                    MessageCode::kModelRejected, MessageCode::kNoFit};
  return format_message({kCodes[static_cast<int>(verdict.kind)], {{"reasons", verdict.reasons}}});
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
                "; the model is rejected with this repair too, "
                "and a model error may cause the same residuals";
  }
  if (!finding.place.empty() && text.advice.find(finding.place) == std::string::npos) {
    text.advice += (text.advice.empty() ? "see " : "; see ") + finding.place;
  }
  return text;
}

}  // namespace service
