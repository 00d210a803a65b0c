#pragma once

#include <string>

namespace service {

/// Returns the style sheet of HTML reports. Pages are light or dark by the reader's preference, and
/// light on paper. Colours are from the colour-blind-safe set of Okabe and Ito.
const std::string& page_style();

}  // namespace service
