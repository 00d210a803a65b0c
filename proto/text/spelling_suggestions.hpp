#pragma once

#include <string>
#include <vector>

namespace proto {

/// Returns the names most similar to a mistyped one, at most `count`, most similar first.
std::vector<std::string> find_similar_names(const std::string& name,
                                            const std::vector<std::string>& names,
                                            std::size_t count);

/// Returns a suggestion for a mistyped name, such as "; did you mean 'calibrate'?"; empty if no
/// name is similar.
std::string suggest_spelling(const std::string& name, const std::vector<std::string>& names);

}  // namespace proto
