#pragma once

#include <string>
#include <vector>

#include "service/rig/drawing/view.hpp"

namespace service {

/// Character set in which a terminal shows a picture.
enum class CharacterSet {
  kBraille,  ///< Unicode Braille patterns, two by four dots per character
  kAscii     ///< for terminals without Unicode
};

/// Returns the character set for the locale of this process (LC_ALL, LC_CTYPE, LANG).
CharacterSet character_set_of_locale();

/// Returns the first view of a scene as lines of text.
/// @param columns, rows  largest size of the text
std::string scene_text(const Scene& scene, int columns, int rows, CharacterSet letters);

/// Returns an SVG document with one panel per view of a scene, a legend, and lines of text below.
/// The first panel is the largest.
/// @param words  the lines of text
std::string scene_svg(const Scene& scene, const std::string& title,
                      const std::vector<std::string>& words);

}  // namespace service
