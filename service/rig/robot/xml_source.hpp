#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// XML document with readers for attributes. Error messages give the file and the line.
class XmlSource {
 public:
  /// Parses the text of an XML file.
  /// @param path  name of the file for messages
  /// @throws proto::InputError if the text is not XML
  XmlSource(std::string path, const std::string& text);

  /// Returns the root element of the document; nullptr if it has none.
  const tinyxml2::XMLElement* root() const { return document_.RootElement(); }

  [[noreturn]] void fail(int line, const std::string& what) const;
  [[noreturn]] void fail(const tinyxml2::XMLElement& element, const std::string& what) const {
    fail(element.GetLineNum(), what);
  }

  /// Returns the text of an attribute that the element must have.
  /// @param what  name of the element for messages
  std::string text_of(const tinyxml2::XMLElement& element, const char* attribute,
                      const char* what) const;

  /// Parses the numbers in the text of an attribute.
  /// @param count  required count of numbers; 0 accepts any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* attribute,
                              const char* text, std::size_t count) const;

  /// Returns the number in an attribute; `otherwise` if the element or the attribute is missing.
  double number_or(const tinyxml2::XMLElement* element, const char* attribute,
                   double otherwise) const;
  Eigen::Vector3d vector_or(const tinyxml2::XMLElement* element, const char* attribute,
                            const Eigen::Vector3d& otherwise) const;

 private:
  double number(const tinyxml2::XMLElement& element, const char* attribute,
                const std::string& word) const;

  std::string path_;
  tinyxml2::XMLDocument document_;
};

}  // namespace service
