#pragma once

#include <string>

#include "service/describe/view.hpp"

namespace service {

/// What a picture on a terminal may be made of.
enum class Letters {
  kBraille,  ///< Unicode's dot patterns, two by four dots a letter
  kAscii     ///< for terminals that show nothing else
};

/// What the locale of the process (LC_ALL, LC_CTYPE, LANG) says its terminal shows.
Letters letters_of_locale();

/// The first view of a scene as lines of text.
/// @param columns, rows  most that it takes
std::string scene_text(const Scene& scene, int columns, int rows, Letters letters);

}  // namespace service
