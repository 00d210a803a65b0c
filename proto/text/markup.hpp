#pragma once

#include <string>
#include <string_view>

namespace proto {

/// Escapes text for an element or attribute of HTML or SVG.
std::string escaped_markup(std::string_view text);

}  // namespace proto
