#pragma once

#include <string>

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

}  // namespace service
