#pragma once

#include <tinyxml2.h>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// An XML file that is read; every fault names it and the line.
class XmlSource {
 public:
  /// @param path  for messages
  /// @throws proto::InputError for what is no XML
  XmlSource(std::string path, const std::string& text);

  /// The outermost element, or none.
  const tinyxml2::XMLElement* root() const { return document_.RootElement(); }

  [[noreturn]] void fail(int line, const std::string& what) const;
  [[noreturn]] void fail(const tinyxml2::XMLElement& element, const std::string& what) const {
    fail(element.GetLineNum(), what);
  }

  /// An attribute that must be there. @param what  the element is, for people
  std::string text_of(const tinyxml2::XMLElement& element, const char* attribute,
                      const char* what) const;

  /// Numbers in a text, of an attribute for the message.
  /// @param count  how many there must be; 0: any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* attribute,
                              const char* text, std::size_t count) const;

  /// An attribute's number or vector; `otherwise` where the element or the attribute is not there.
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
