#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "proto/text/input_error.hpp"

namespace service {

/// XML document with functions to read attributes. Error messages contain file name and line.
class XmlSource {
 public:
  /// Parses the text of an XML file.
  /// @param path  name of the file for messages
  /// @throws proto::InputError if the text is not XML, or has too many elements or attributes
  XmlSource(std::string path, const std::string& text);

  /// Returns the root element of the document; nullptr if it has none.
  const tinyxml2::XMLElement* root() const { return document_.RootElement(); }

  /// Throws an error about a line of the file, with a text formatted as by fmt::format.
  template <typename... Values>
  [[noreturn]] void fail(int line, fmt::format_string<Values...> what, Values&&... values) const {
    throw proto::InputError("{}:{}: {}", path_, line,
                            fmt::format(what, std::forward<Values>(values)...));
  }
  template <typename... Values>
  [[noreturn]] void fail(const tinyxml2::XMLElement& element, fmt::format_string<Values...> what,
                         Values&&... values) const {
    fail(element.GetLineNum(), what, std::forward<Values>(values)...);
  }

  /// Returns the text of an attribute, or throws an error if the element does not have it.
  /// @param what  name of the element for messages
  std::string required_attribute(const tinyxml2::XMLElement& element, const char* attribute,
                                 const char* what) const;

  /// Parses the numbers in the text of an XML attribute.
  /// @param count  required count of numbers; 0 accepts any
  std::vector<double> parse_numbers(const tinyxml2::XMLElement& element, const char* attribute,
                                    const char* text, std::size_t count) const;

  /// Returns the number in an XML attribute; `otherwise` if the element or the attribute is
  /// missing.
  double number_or_default(const tinyxml2::XMLElement* element, const char* attribute,
                           double otherwise) const;
  /// Returns the limit in an XML attribute. The limit may be infinite.
  double limit_or_default(const tinyxml2::XMLElement* element, const char* attribute,
                          double otherwise) const;
  Eigen::Vector3d vector_or_default(const tinyxml2::XMLElement* element, const char* attribute,
                                    const Eigen::Vector3d& otherwise) const;

 private:
  double parse_number(const tinyxml2::XMLElement& element, const char* attribute,
                      const std::string& word, bool may_be_infinite) const;

  std::string path_;
  tinyxml2::XMLDocument document_;
};

/// Returns numbers as text, separated by spaces. Parsing the text gives exactly the same values.
std::string format_number_list(const std::vector<double>& values);
std::string format_vector(const Eigen::Vector3d& v);

/// Returns a vector in which tiny components, which are rounding errors, are exactly zero.
Eigen::VectorXd zero_rounding_errors(const Eigen::VectorXd& v);

/// Writes an XML comment of several lines. The characters "--" are replaced, since XML does not
/// allow them in comments.
void write_xml_comment(tinyxml2::XMLPrinter& xml, const std::vector<std::string>& lines);

void push(tinyxml2::XMLPrinter& xml, const char* attribute, const std::string& value);
void push(tinyxml2::XMLPrinter& xml, const char* attribute, double value);

/// Writes an XML element that contains only attributes.
void write_xml_element(tinyxml2::XMLPrinter& xml, const char* element,
                       std::initializer_list<std::pair<const char*, std::string>> attributes);

}  // namespace service
