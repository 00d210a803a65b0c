#pragma once

#include <string>
#include <vector>

namespace service {

/// Shortens names for labels. Of a name longer than `characters_max` the beginning and the end
/// remain, around "…". If two shortened names would be equal, all become "recording 1", "recording
/// 2", …, numbered among the distinct names.
///
/// @param names  UTF-8; equal names get equal results
std::vector<std::string> short_names(const std::vector<std::string>& names, int characters_max);

}  // namespace service
