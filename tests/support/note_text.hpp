#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "service/messages/message_text.hpp"

namespace test_support {

/// Returns the text of all notes, one per line.
inline std::string text_of_notes(const std::vector<estimator::Message>& notes) {
  std::string text;
  for (const std::string& note : service::format_notes(notes)) text += note + "\n";
  return text;
}

inline bool has_note(const std::vector<estimator::Message>& notes, estimator::MessageCode code) {
  return std::ranges::find(notes, code, &estimator::Message::code) != notes.end();
}

}  // namespace test_support
