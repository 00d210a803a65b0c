#include "service/messages/message_text.hpp"

#include "service/messages/message_table.hpp"

namespace service {

using estimator::MessageCode;
using estimator::Severity;

std::string to_text(Severity severity) {
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

std::string text_of(const estimator::Message& message) {
  return fill_template(row_of(message.code).sentence, message);
}

std::string error_text(const estimator::Message& message) {
  const std::string advice = fill_template(row_of(message.code).advice, message);
  return text_of(message) + (advice.empty() ? "" : "; " + advice);
}

std::string note_text(const estimator::Message& message) {
  const bool warns = estimator::severity_of(message) == Severity::kWarning;
  return (warns ? "warning: " : "") + text_of(message);
}

std::vector<std::string> note_texts(const std::vector<estimator::Message>& notes) {
  std::vector<std::string> texts;
  for (const estimator::Message& note : notes) texts.push_back(note_text(note));
  return texts;
}

std::string text_of(const estimator::Verdict& verdict) {
  if (verdict.reasons.empty()) return "";
  constexpr MessageCode kCodes[] = {MessageCode::kModelAccepted, MessageCode::kModelDoubtful,
                                    MessageCode::kModelRejected, MessageCode::kNoFit};
  return text_of({kCodes[static_cast<int>(verdict.kind)], {{"reasons", verdict.reasons}}});
}

FindingText describe(const estimator::Finding& finding) {
  FindingText text;
  if (!finding.message.arguments.empty()) {
    std::vector<estimator::Message> causes = {finding.message};
    if (const estimator::Argument::Value* joined = finding.message.find("causes")) {
      causes = std::get<std::vector<estimator::Message>>(*joined);
    }
    const MessageRow& row = row_of(finding.message.code);
    text.kind = row_of(causes.front().code).id;
    text.what = fill_template(row.sentence, finding.message);
    for (const estimator::Message& cause : causes) {
      text.advice +=
          (text.advice.empty() ? "" : ", or ") + fill_template(row_of(cause.code).advice, cause);
    }
    if (finding.treated) text.treatment = fill_template(row.treatment, finding.message);
  }
  if (finding.doubtful) {
    text.what = "possibly, " + text.what +
                "; the model is rejected with this repair too, and a model error may cause the "
                "same residuals";
  }
  if (!finding.place.empty() && text.advice.find(finding.place) == std::string::npos) {
    text.advice += (text.advice.empty() ? "see " : "; see ") + finding.place;
  }
  return text;
}

}  // namespace service
