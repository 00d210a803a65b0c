#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/import/robot/robot.hpp"
#include "service/import/robot/xml_source.hpp"

namespace service {

/// A MuJoCo model's text with what holds throughout: default classes, units of angles.
class MjcfSource {
 public:
  /// @throws proto::InputError for what is no MuJoCo model, or is made in ways that need MuJoCo
  MjcfSource(const std::string& path, const std::string& text);

  const XmlSource& xml() const { return xml_; }
  const tinyxml2::XMLElement& root() const { return *xml_.root(); }
  /// Sections of one name, which may be there several times.
  std::vector<const tinyxml2::XMLElement*> sections(const char* name) const;

  /// An attribute of an element, or of the defaults that stand in for it, or none.
  /// @param kind   element of the defaults, "joint"
  /// @param child  class that a body around it gives; empty: none
  const char* attribute(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                        const std::string& child) const;
  double number_or(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                   const std::string& child, double otherwise) const;
  /// Empty where it is not stated. @param count  0: any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* kind,
                              const char* name, const std::string& child,
                              std::size_t count = 0) const;

  /// What a number that stands for an angle is in rad.
  double radians(double angle) const { return in_degrees_ ? angle * M_PI / 180.0 : angle; }
  bool limits_by_range() const { return limits_by_range_; }
  bool inertia_from_shapes() const { return inertia_from_shapes_; }

  /// pos and what says of an orientation, of a body, a frame or an inertia.
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
