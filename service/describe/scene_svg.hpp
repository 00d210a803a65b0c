#pragma once

#include <string>
#include <vector>

#include "service/describe/view.hpp"

namespace service {

/// Returns a complete SVG document with one panel per view (the first is the largest), a legend,
/// and lines of text below.
std::string scene_svg(const Scene& scene, const std::string& title,
                      const std::vector<std::string>& words);

}  // namespace service
