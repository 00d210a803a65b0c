#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace service {

/// Splits a column's name into lower-case words, at non-alphanumeric characters and before a
/// capital that follows a lower-case letter. Removes trailing digits of each word.
std::vector<std::string> split_into_words(const std::string& name);

/// Returns the text in brackets at the end of a name; empty if there is none.
std::string_view text_in_brackets(std::string_view name, char open, char close);

}  // namespace service
