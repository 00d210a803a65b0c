#pragma once

#include <string>
#include <vector>

namespace proto {

/// Returns the names most similar to a mistyped one, at most `count`, most similar first.
std::vector<std::string> similar_names(const std::string& name,
                                       const std::vector<std::string>& names, std::size_t count);

/// Returns "; did you mean 'calibrate'?" with the most similar name; empty if none is similar.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);

}  // namespace proto
