#pragma once

#include <fmt/core.h>  // IWYU pragma: export

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace proto {

/// Exception for invalid input from a user. The message contains the location, the problem and the
/// remedy, e.g. "rig.textproto:12:5: body 'A' is given twice; give each body its own name".
/// Functions that read files, options or texts of the user throw it for invalid input.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Formats the message as fmt::format does, e.g. InputError("{}: is empty", path).
  template <typename First, typename... Rest>
  InputError(fmt::format_string<First, Rest...> sentence, First&& first, Rest&&... rest)
      : std::runtime_error(
            fmt::format(sentence, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// Adds a note, formatted as by fmt::format, to a list of notes for the user.
template <typename... Values>
void add_note(std::vector<std::string>& notes, fmt::format_string<Values...> sentence,
              Values&&... values) {
  notes.push_back(fmt::format(sentence, std::forward<Values>(values)...));
}

}  // namespace proto
