#pragma once

#include <string>

namespace service {

/// Returns the style sheet of reports: light or dark by the reader's preference, light on paper.
/// Colours are from the colour-blind-safe set of Okabe and Ito. No external resources.
const std::string& page_style();

}  // namespace service
