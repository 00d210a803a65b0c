#pragma once

#include <string>
#include <vector>

#include "service/rig/drawing/view.hpp"

namespace service {

/// Returns an SVG document with one panel per view of a scene, a legend, and lines of text below.
/// The first panel is the largest.
/// @param words  the lines of text
std::string scene_svg(const Scene& scene, const std::string& title,
                      const std::vector<std::string>& words);

}  // namespace service
