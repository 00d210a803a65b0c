#pragma once

#include <string>

#include "service/describe/view.hpp"

namespace service {

/// Character set of a picture on a terminal.
enum class CharacterSet {
  kBraille,  ///< Unicode Braille patterns, two by four dots per character
  kAscii     ///< for terminals without Unicode
};

/// Returns the character set of the process's locale (LC_ALL, LC_CTYPE, LANG).
CharacterSet character_set_of_locale();

/// Returns the first view of a scene as lines of text.
/// @param columns, rows  largest size
std::string scene_text(const Scene& scene, int columns, int rows, CharacterSet letters);

}  // namespace service
