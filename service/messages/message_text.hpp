#pragma once

#include <string>
#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/messages/message.hpp"

namespace service {

/// Returns "note", "warning" or "fault".
std::string to_text(estimator::Severity severity);

/// Returns the sentence of a message, without a capital at its start and a full stop at its end.
std::string text_of(const estimator::Message& message);

/// Returns the sentence of an error, and what the reader can do about it.
std::string error_text(const estimator::Message& message);

/// Returns the sentence of a note, after "warning: " if it is one.
std::string note_text(const estimator::Message& message);

/// Returns the sentences of notes.
std::vector<std::string> note_texts(const std::vector<estimator::Message>& notes);

/// The texts of a finding for people.
struct FindingText {
  std::string kind;       ///< stable name of the finding: "slip", "outliers", …
  std::string what;       ///< the sentence
  std::string advice;     ///< what the reader can do, with the place in the rig file; or empty
  std::string treatment;  ///< what rigcal did about it; or empty
};

FindingText describe(const estimator::Finding& finding);

}  // namespace service
