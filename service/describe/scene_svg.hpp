#pragma once

#include <string>
#include <vector>

#include "service/describe/view.hpp"

namespace service {

/// A picture of a mechanism: a complete SVG document with a panel for each view (the first is the
/// largest), a key of its signs, and lines of text below.
std::string scene_svg(const Scene& scene, const std::string& title,
                      const std::vector<std::string>& words);

}  // namespace service
