#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/rig/robot/robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {

/// Remedy for a model whose masses only MuJoCo can compute.
inline constexpr const char* kSaveInMujoco =
    "Load the model in MuJoCo and save it with <compiler saveinertial=\"true\"/>";

/// XML document of a MuJoCo model, with global settings such as default classes and the unit of
/// angles.
class MjcfSource {
 public:
  /// Parses the text of a MuJoCo model.
  /// @throws proto::InputError if the text is not a MuJoCo model, or has elements that only MuJoCo
  ///         can expand
  MjcfSource(const std::string& path, const std::string& text);

  const XmlSource& xml() const { return xml_; }
  const tinyxml2::XMLElement& root() const { return *xml_.root(); }
  /// Returns all top-level XML elements with this name.
  std::vector<const tinyxml2::XMLElement*> top_level_elements(const char* name) const;

  /// Returns the text of an attribute of an element, or of the element's default class; nullptr if
  /// neither has the attribute.
  /// @param kind   name of the element in default classes, e.g. "joint"
  /// @param child  childclass of the enclosing body; empty if it has none
  const char* find_attribute(const tinyxml2::XMLElement& element, const char* kind,
                             const char* name, const std::string& child) const;
  double number_or_default(const tinyxml2::XMLElement& element, const char* kind, const char* name,
                           const std::string& child, double otherwise) const;
  /// Returns the numbers in an attribute of an element; empty if the attribute is missing.
  /// @param count  required count; 0 accepts any
  std::vector<double> read_numbers(const tinyxml2::XMLElement& element, const char* kind,
                                   const char* name, const std::string& child,
                                   std::size_t count = 0) const;

  /// Converts an angle from the angle unit of the model to rad.
  double to_radians(double angle) const { return in_degrees_ ? angle * M_PI / 180.0 : angle; }
  bool infers_limits_from_range() const { return limits_by_range_; }
  bool infers_inertia_from_geometry() const { return inertia_from_shapes_; }

  /// Returns the pose of an element from its position and orientation attributes.
  Placement read_placement(const tinyxml2::XMLElement& element) const;

 private:
  struct DefaultClass {
    std::string parent;  // empty: none
    const tinyxml2::XMLElement* element;
  };
  void read_compiler_settings(const tinyxml2::XMLElement& element);
  void read_default_classes(const tinyxml2::XMLElement& element, const std::string& parent);
  void reject_unsupported_element(const tinyxml2::XMLElement& element) const;
  Eigen::Matrix3d read_orientation(const tinyxml2::XMLElement& element) const;

  XmlSource xml_;
  std::map<std::string, DefaultClass> classes_;
  std::string euler_sequence_ = "xyz";
  bool in_degrees_ = true, limits_by_range_ = true, inertia_from_shapes_ = false;
};

/// Poses of the links and positions of the sites in the reference configuration of a MuJoCo model.
struct MjcfReferencePoses {
  struct SitePosition {
    std::size_t link = 0;
    Eigen::Vector3d at;  ///< position in the frame of the link [m]
  };
  std::map<std::string, std::size_t> links;
  std::map<std::string, SitePosition> sites;
  std::vector<Placement> at_reference;       ///< pose of each link
  std::map<std::string, double> references;  ///< joint coordinates by name [rad or m]
};

/// Adds the motors, mimic joints and loop-closing joints of a MuJoCo model to a robot. A MuJoCo
/// model closes a loop by a connection of two bodies at two points, or at one point if the loop is
/// planar. Other actuators and constraints, and tendons, are left out and listed in the robot's
/// notes.
void add_motors_and_couplings(const MjcfSource& source, const MjcfReferencePoses& places,
                              Robot& robot);

}  // namespace service
