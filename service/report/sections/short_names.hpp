#pragma once

#include <string>
#include <vector>

namespace service {

/// Returns names shortened for labels. A name longer than `characters_max` keeps its beginning and
/// its end, with "…" between them. If different names would become equal, all names are replaced by
/// "recording 1", "recording 2" and so on.
///
/// @param names  names in UTF-8; equal names get equal results
std::vector<std::string> short_names(const std::vector<std::string>& names, int characters_max);

}  // namespace service
