#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace google::protobuf {
class Descriptor;
}

namespace proto {

/// Counts the elements that parsing `bytes` as `type` would allocate, without allocating them:
/// message fields and entries of repeated fields (also packed ones), at all depths.
///
/// @param count_max  counting stops beyond it; the result is then count_max + 1
/// @return empty if the bytes are not well-formed or nest deeper than 16 levels
std::optional<std::size_t> count_elements(const google::protobuf::Descriptor& type,
                                          std::string_view bytes, std::size_t count_max);

}  // namespace proto
