#pragma once

#include <string>
#include <string_view>

namespace proto {

/// Lines that differ between two texts, as "  12 - text" of the first and "  12 + text" of the
/// second, each with its number there; empty where none do.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace proto
