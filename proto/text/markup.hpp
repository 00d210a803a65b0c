#pragma once

#include <string>
#include <string_view>

namespace proto {

/// Text inside an element of HTML or SVG, or in an attribute of one.
std::string escaped_markup(std::string_view text);

}  // namespace proto
