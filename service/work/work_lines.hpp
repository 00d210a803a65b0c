#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

/// Returns fields, which may contain any bytes, as one line: a checksum, the fields with tabs and
/// line breaks escaped, and a line break.
std::string format_work_line(const std::vector<std::string>& fields);

/// Returns the fields of a line, without its line break; nullopt if the checksum is wrong.
std::optional<std::vector<std::string>> parse_work_line(std::string_view line);

}  // namespace service
