#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Reader of an XML file. Error messages give the file and the line.
class XmlSource {
 public:
  /// @param path  for messages
  /// @throws proto::InputError if it is not XML
  XmlSource(std::string path, const std::string& text);

  /// Returns the outermost element, or nullptr.
  const tinyxml2::XMLElement* root() const { return document_.RootElement(); }

  [[noreturn]] void fail(int line, const std::string& what) const;
  [[noreturn]] void fail(const tinyxml2::XMLElement& element, const std::string& what) const {
    fail(element.GetLineNum(), what);
  }

  /// Returns a required attribute. @param what  name of the element for messages
  std::string text_of(const tinyxml2::XMLElement& element, const char* attribute,
                      const char* what) const;

  /// Parses the numbers of an attribute's text.
  /// @param count  required count; 0: any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* attribute,
                              const char* text, std::size_t count) const;

  /// Returns an attribute's number or vector; `otherwise` if the element or the attribute is
  /// missing.
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
