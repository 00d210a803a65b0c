#include "service/rig/robot/xml_writing.hpp"

#include <cmath>

#include "proto/notation/number_format.hpp"

namespace service {

std::string number_list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    if (!text.empty()) text += ' ';
    text += notation::format_exact(value == 0.0 ? 0.0 : value);  // −0 becomes 0
  }
  return text;
}

std::string vector_text(const Eigen::Vector3d& v) { return number_list({v.x(), v.y(), v.z()}); }

Eigen::VectorXd with_exact_zeros(const Eigen::VectorXd& v) {
  constexpr double kRounding = 1e-15;
  return v.unaryExpr([](double x) { return std::abs(x) < kRounding ? 0.0 : x; });
}

void push_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) {
    text.replace(at, 2, "- -");
  }
  xml.PushComment((text + "\n").c_str());
}

void push(tinyxml2::XMLPrinter& xml, const char* attribute, const std::string& value) {
  xml.PushAttribute(attribute, value.c_str());
}

void push(tinyxml2::XMLPrinter& xml, const char* attribute, double value) {
  push(xml, attribute, number_list({value}));
}

}  // namespace service
