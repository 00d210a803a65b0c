#include "service/text/svg_elements.hpp"

#include <fmt/core.h>

#include "proto/text/printable.hpp"

namespace service {

std::string escape_html(const std::string& text) { return proto::escape_markup(text); }

std::string svg_text(double x, double y, const char* anchor, const std::string& css,
                     const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, css, escape_html(text));
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& css) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, css);
}

std::string svg_circle(double x, double y, double radius, const std::string& css) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"/>\n", x, y,
                     radius, css);
}

std::string svg_rect(double x, double y, double width, double height, const std::string& css) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", x, y,
      width, height, css);
}

}  // namespace service
