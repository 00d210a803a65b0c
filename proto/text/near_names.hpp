#pragma once

#include <string>
#include <vector>

namespace proto {

/// The names that a mistyped one is nearest to, at most `count`, the nearest first.
std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names, std::size_t count);

/// "; did you mean 'calibrate'?" of the nearest name; empty where none is near enough to be meant.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);

}  // namespace proto
