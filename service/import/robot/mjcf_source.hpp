#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"
#include "service/import/robot/xml_source.hpp"

namespace service {

/// Text of a MuJoCo model with its global settings: default classes, units of angles.
class MjcfSource {
 public:
  /// @throws proto::InputError for other files, and for constructs that only MuJoCo can expand
  MjcfSource(const std::string& path, const std::string& text);

  const XmlSource& xml() const { return xml_; }
  const tinyxml2::XMLElement& root() const { return *xml_.root(); }
  /// Returns all sections of one name.
  std::vector<const tinyxml2::XMLElement*> sections(const char* name) const;

  /// Returns an attribute of an element, else of its default class, else nullptr.
  /// @param kind   element name in the defaults, "joint"
  /// @param child  childclass of an enclosing body; empty: none
  const char* attribute(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                        const std::string& child) const;
  double number_or(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                   const std::string& child, double otherwise) const;
  /// Empty if not given. @param count  0: any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* kind,
                              const char* name, const std::string& child,
                              std::size_t count = 0) const;

  /// Converts an angle of the file to rad.
  double radians(double angle) const { return in_degrees_ ? angle * M_PI / 180.0 : angle; }
  bool limits_by_range() const { return limits_by_range_; }
  bool inertia_from_shapes() const { return inertia_from_shapes_; }

  /// Returns the pose (pos and orientation) of a body, a frame or an inertia.
  Placement placement(const tinyxml2::XMLElement& element) const;

 private:
  struct Class {
    std::string parent;  // empty: none
    const tinyxml2::XMLElement* element;
  };
  void read_compiler(const tinyxml2::XMLElement& element);
  void read_defaults(const tinyxml2::XMLElement& element, const std::string& parent);
  void refuse(const tinyxml2::XMLElement& element) const;
  Eigen::Matrix3d orientation(const tinyxml2::XMLElement& element) const;

  XmlSource xml_;
  std::map<std::string, Class> classes_;
  std::string euler_sequence_ = "xyz";
  bool in_degrees_ = true, limits_by_range_ = true, inertia_from_shapes_ = false;
};

}  // namespace service
