#pragma once

#include <string>
#include <vector>

namespace service {

/// Names of at most so many characters by which their owners can be told apart, for labels: of a
/// longer name its beginning and its end around "…", "recording 2", the number of the name among
/// those that differ, where that leaves two names alike.
///
/// @param names  UTF-8; alike ones come back alike
std::vector<std::string> short_names(const std::vector<std::string>& names, int characters_max);

}  // namespace service
