#pragma once

#include <string>
#include <string_view>

namespace proto {

/// Returns the differing lines of two texts, as "  12 - text" for the first and "  12 + text" for
/// the second, each with its line number there; empty if there are none.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace proto
