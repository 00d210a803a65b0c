#pragma once

#include <string>

namespace service {

/// Style sheet of the report: light and dark by the reader's preference, always light on paper.
/// Colours are from the colour-blind-safe set of Okabe and Ito. No external resources.
const std::string& page_style();

}  // namespace service
