#include "service/rig/robot/xml_source.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace service {

using tinyxml2::XMLElement;
namespace {

const char* xml_fault(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "the document is empty";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
    case tinyxml2::XML_ERROR_PARSING:
      return "an element is not closed, or closed with another name";
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
      return "an element is incomplete, or its name is missing";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is not written NAME=\"VALUE\"";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "text in place of an element";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements are nested more than 100 levels deep";
    default:
      return "a comment, a declaration or a section is not closed";
  }
}

// Limits of a robot description. The largest known ones have some thousand elements. tinyxml2 needs
// 120 bytes for an element, and time with the square of an element's attributes.
constexpr int kElementsMax = 200'000;
constexpr int kAttributesMax = 200;  // of one element

/// Returns which limit an XML text exceeds; null if it exceeds none.
const char* find_excess(std::string_view text) {
  const auto skip = [&](std::size_t from, std::string_view mark) {
    return std::min(text.find(mark, from), text.size());
  };
  int elements = 0;
  for (std::size_t at = skip(0, "<"); at < text.size(); at = skip(at, "<")) {
    const std::string_view tag = text.substr(at);
    if (tag.starts_with("<!--")) {
      at = skip(at, "-->");
    } else if (tag.starts_with("<![CDATA[")) {
      at = skip(at, "]]>");
    } else {
      if (!tag.starts_with("</") && ++elements > kElementsMax)
        return "has more than 200 000 XML elements";
      int attributes = 0;
      char quote = '\0';
      for (++at; at < text.size() && (quote != '\0' || text[at] != '>'); ++at) {
        const char c = text[at];
        if (quote == '\0' && c == '=' && ++attributes > kAttributesMax) {
          return "has an XML element with more than 200 attributes";
        }
        if (quote == '\0' ? c == '"' || c == '\'' : c == quote) quote = quote == '\0' ? c : '\0';
      }
    }
  }
  return nullptr;
}

}  // namespace

XmlSource::XmlSource(std::string path, const std::string& text) : path_(std::move(path)) {
  const std::string_view plain = proto::strip_byte_order_mark(text);
  if (const char* const excess = find_excess(plain)) {
    throw proto::InputError("{}: {}; give a smaller URDF or MJCF file", path_, excess);
  }
  document_.Parse(plain.data(), plain.size());
  if (document_.Error()) {
    fail(document_.ErrorLineNum(), "is not XML: {}; correct it, or give a URDF or MJCF file",
         xml_fault(document_.ErrorID()));
  }
}

std::string XmlSource::required_attribute(const XMLElement& element, const char* attribute,
                                          const char* what) const {
  const char* const text = element.Attribute(attribute);
  if (text == nullptr || *text == '\0') {
    fail(element, "a {} has no {}", what, attribute);
  }
  return text;
}

double XmlSource::parse_number(const XMLElement& element, const char* attribute,
                               const std::string& word, bool may_be_infinite) const {
  double value = 0.0;
  const char* begin = word.data();
  const char* const end = begin + word.size();
  if (begin != end && *begin == '+') ++begin;
  const auto read = std::from_chars(begin, end, value);
  const bool is_allowed = std::isfinite(value) || (may_be_infinite && std::isinf(value));
  if (read.ec != std::errc() || read.ptr != end || !is_allowed) {
    fail(element, "<{} {}={:?}> is not a {}number; write it with a decimal point", element.Name(),
         attribute, word, may_be_infinite ? "" : "finite ");
  }
  return value;
}

std::vector<double> XmlSource::parse_numbers(const XMLElement& element, const char* attribute,
                                             const char* text, std::size_t count) const {
  std::istringstream words(text);
  std::vector<double> values;
  for (std::string word; words >> word;) {
    values.push_back(parse_number(element, attribute, word, false));
  }
  if (count != 0 && values.size() != count) {
    static const char* const kWords[] = {"", "one number", "two numbers", "three numbers",
                                         "four numbers"};
    fail(element, "<{} {}={:?}> needs {}", element.Name(), attribute, text,
         count < std::size(kWords) ? kWords[count] : fmt::format("{} numbers", count));
  }
  return values;
}

double XmlSource::number_or_default(const XMLElement* element, const char* attribute,
                                    double otherwise) const {
  const char* const text = element == nullptr ? nullptr : element->Attribute(attribute);
  return text == nullptr ? otherwise : parse_numbers(*element, attribute, text, 1).front();
}

double XmlSource::limit_or_default(const XMLElement* element, const char* attribute,
                                   double otherwise) const {
  const char* const text = element == nullptr ? nullptr : element->Attribute(attribute);
  if (text == nullptr) return otherwise;
  std::string word;
  std::istringstream(text) >> word;
  return parse_number(*element, attribute, word, true);
}

Eigen::Vector3d XmlSource::vector_or_default(const XMLElement* element, const char* attribute,
                                             const Eigen::Vector3d& otherwise) const {
  const char* const text = element == nullptr ? nullptr : element->Attribute(attribute);
  if (text == nullptr) return otherwise;
  return Eigen::Vector3d(parse_numbers(*element, attribute, text, 3).data());
}

std::string format_number_list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    if (!text.empty()) text += ' ';
    text += notation::format_exact(value == 0.0 ? 0.0 : value);  // −0 becomes 0
  }
  return text;
}

std::string format_vector(const Eigen::Vector3d& v) {
  return format_number_list({v.x(), v.y(), v.z()});
}

Eigen::VectorXd zero_rounding_errors(const Eigen::VectorXd& v) {
  constexpr double kRounding = 1e-15;
  return v.unaryExpr([](double x) { return std::abs(x) < kRounding ? 0.0 : x; });
}

void write_xml_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines) {
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
  push(xml, attribute, format_number_list({value}));
}

void write_xml_element(tinyxml2::XMLPrinter& xml, const char* element,
                       std::initializer_list<std::pair<const char*, std::string>> attributes) {
  xml.OpenElement(element);
  for (const auto& [name, value] : attributes) push(xml, name, value);
  xml.CloseElement();
}

}  // namespace service
