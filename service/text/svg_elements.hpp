#pragma once

#include <string>

namespace service {

/// Returns text with the special characters of HTML and SVG replaced by entities.
std::string escape_html(const std::string& text);

// Elements of SVG pictures. Coordinates and sizes are in px; `css` names their classes.

/// @param anchor  "start", "middle" or "end": the part of the text that is at x
std::string svg_text(double x, double y, const char* anchor, const std::string& css,
                     const std::string& text);
std::string svg_line(double x1, double y1, double x2, double y2, const std::string& css);
std::string svg_circle(double x, double y, double radius, const std::string& css);
/// @param x, y  upper left corner
std::string svg_rect(double x, double y, double width, double height, const std::string& css);

}  // namespace service
