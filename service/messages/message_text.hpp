#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/finding.hpp"
#include "estimator/messages/message.hpp"

namespace service {

/// Returns "note", "warning" or "fault".
std::string severity_name(estimator::Severity severity);

/// Returns the sentence of a message, without capital first letter and full stop.
std::string format_message(const estimator::Message& message);

/// Returns the sentence of an error, followed by the advice to the reader.
std::string format_error(const estimator::Message& message);

/// Returns the sentence of a note. The prefix "warning: " marks a warning.
std::string format_note(const estimator::Message& message);

/// Returns the sentences of notes.
std::vector<std::string> format_notes(const std::vector<estimator::Message>& notes);

/// Returns a verdict as a sentence, such as "the model is rejected: …"; empty if the model has not
/// been judged.
std::string format_verdict(const estimator::Verdict& verdict);

/// Texts of a finding that a report shows.
struct FindingText {
  std::string kind;       ///< stable name of the finding: "slip", "outliers", …
  std::string what;       ///< the sentence
  std::string advice;     ///< action for the reader, with the location in the rig file; or empty
  std::string treatment;  ///< repair that rigcal made; or empty
};

/// Returns the texts of a finding. If the message of the finding has an argument "causes", kind and
/// advice are taken from the causes.
FindingText describe_finding(const estimator::Finding& finding);

}  // namespace service
