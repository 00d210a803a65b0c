#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/rig/robot/robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {

/// XML document of a MuJoCo model with its global settings, such as default classes and the unit of
/// angles.
class MjcfSource {
 public:
  /// Parses the text of a MuJoCo model.
  /// @throws proto::InputError if the text is not a MuJoCo model, or has elements that only MuJoCo
  ///         can expand
  MjcfSource(const std::string& path, const std::string& text);

  const XmlSource& xml() const { return xml_; }
  const tinyxml2::XMLElement& root() const { return *xml_.root(); }
  /// Returns all top-level elements with this name.
  std::vector<const tinyxml2::XMLElement*> sections(const char* name) const;

  /// Returns the text of an attribute. If the element lacks it, returns the text from the element's
  /// default class; nullptr if that lacks it too.
  /// @param kind   name of the element in default classes, e.g. "joint"
  /// @param child  childclass of the enclosing body; empty if it has none
  const char* attribute(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                        const std::string& child) const;
  double number_or(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                   const std::string& child, double otherwise) const;
  /// Returns the numbers in an attribute; empty if the attribute is missing.
  /// @param count  required count; 0 accepts any
  std::vector<double> numbers(const tinyxml2::XMLElement& element, const char* kind,
                              const char* name, const std::string& child,
                              std::size_t count = 0) const;

  /// Converts an angle from the unit of the file to rad.
  double radians(double angle) const { return in_degrees_ ? angle * M_PI / 180.0 : angle; }
  bool limits_by_range() const { return limits_by_range_; }
  bool inertia_from_shapes() const { return inertia_from_shapes_; }

  /// Returns the pose that the position and orientation attributes of an element specify.
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

/// Poses of the links and positions of the sites of a MuJoCo model, in the pose that the file
/// gives.
struct MjcfPoses {
  struct Site {
    std::size_t link = 0;
    Eigen::Vector3d at;  ///< position in the frame of the link [m]
  };
  std::map<std::string, std::size_t> links;
  std::map<std::string, Site> sites;
  std::vector<Placement> at_reference;       ///< pose of each link
  std::map<std::string, double> references;  ///< joint coordinates by name [rad or m]
};

/// Adds the motors, mimic joints and loop-closing joints of a MuJoCo model to a robot. MuJoCo
/// closes a loop by connecting two bodies at two points, or at one point if the loop is planar.
/// Other actuators, other constraints, and tendons are left out and listed in the robot's notes.
void add_couplings(const MjcfSource& source, const MjcfPoses& places, Robot& robot);

}  // namespace service
