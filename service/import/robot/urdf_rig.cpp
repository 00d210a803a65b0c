#include "service/import/robot/urdf_rig.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "estimator/model/possible_inertia.hpp"
#include "proto/text/exact_number.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

// What friction that the file does not state begins at: small for a robot's joint.
constexpr double kViscousStart = 0.01;  // [N·m·s/rad] or [N·s/m]
constexpr double kDryStart = 0.01;      // [N·m] or [N]

// The least moment that a rig file takes.
constexpr double kInertiaLeast = 1e-9;  // [kg·m²]

/// An exact number; what rounding left of a zero is one.
std::string number(double value, double size = 1.0) {
  if (std::abs(value) < 1e-15 * size) return "0";
  return proto::exact_number(value);
}

std::string direction(const Eigen::Vector3d& v) {
  std::string text = "{";
  const char* const names[] = {" x: ", " y: ", " z: "};
  for (int k = 0; k < 3; ++k) {
    if (number(v(k)) != "0") text += names[k] + number(v(k));
  }
  return text + " }";
}

/// The coordinates that are not zero; empty at the origin.
std::string point(const Eigen::Vector3d& v) {
  std::string text;
  const char* const names[] = {" x", " y", " z"};
  for (int k = 0; k < 3; ++k) {
    if (number(v(k)) != "0") text.append(names[k]).append(" { value: " + number(v(k)) + " }");
  }
  return text;
}

/// Some direction across an axis: the coordinate axis that is most across it, made so entirely.
Eigen::Vector3d across(const Eigen::Vector3d& axis) {
  Eigen::Index least = 0;
  axis.cwiseAbs().minCoeff(&least);
  const Eigen::Vector3d e = Eigen::Vector3d::Unit(least);
  return (e - e.dot(axis) * axis).normalized();
}

Placement operator*(const Placement& a, const Placement& b) {
  return {a.rotation * b.rotation, a.rotation * b.translation + a.translation};
}

/// Where a link ended up: on a body, or on the ground.
struct Carrier {
  std::string body = "ground";
  Placement placement;  ///< of the link's frame in the body's
};

class RigWriter {
 public:
  RigWriter(const UrdfRobot& robot, const UrdfImport& choice) : robot_(robot), choice_(choice) {
    joints_below_.resize(robot.links.size());
    for (const UrdfJoint& joint : robot.joints) joints_below_[joint.parent].push_back(&joint);
  }

  RigText write() {
    text_ = "# proto-file: proto/rig.proto\n# proto-message: rigcal.v1.Rig\n#\n# Made from " +
            choice_.source + ". Mark with `free: true` what is to be estimated.\nname: \"" +
            plain(robot_.name) + "\"\n";
    add_root();
    for (const UrdfJoint* joint : joints_below_[robot_.root]) add_branch(*joint, root_);
    if (names_.empty()) {
      throw proto::InputError(choice_.source +
                              ": nothing that has mass moves against the base; --floating lets "
                              "the base move");
    }
    text_ += safety_.empty() ? "" : "safety {\n" + safety_ + "}\n";
    if (!columns_.empty()) {
      text_ += "recording {\n  time { column: \"t_s\" }\n" + columns_ + controls_ + "}\n";
    }
    return {std::move(text_), std::move(notes_)};
  }

 private:
  /// A name that rig files allow, and that nothing else has.
  std::string named(const std::string& name) {
    std::string allowed = name;
    std::ranges::replace_if(
        allowed,
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; },
        '_');
    if (allowed == "ground" || allowed == "gravity") allowed += "_link";
    std::string unique = allowed;
    for (int k = 2; !names_.insert(unique).second; ++k) unique = allowed + "_" + std::to_string(k);
    if (unique != name) notes_.push_back("'" + name + "' is called '" + unique + "'");
    return unique;
  }

  static std::string plain(std::string name) {
    std::erase_if(name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
    return name;
  }

  bool carries_mass(std::size_t link) const {
    return robot_.links[link].inertial.has_value() ||
           std::ranges::any_of(joints_below_[link],
                               [&](const UrdfJoint* joint) { return carries_mass(joint->child); });
  }

  // z up in the URDF file is y up here.
  static Placement upright() {
    Placement world;
    world.rotation = Eigen::AngleAxisd(-M_PI_2, Eigen::Vector3d::UnitX()).toRotationMatrix();
    world.rotation = world.rotation.array().round().matrix().eval();
    return world;
  }

  void add_root() {
    root_.placement = upright();
    const UrdfLink& link = robot_.links[robot_.root];
    if (!choice_.floating) {
      if (link.inertial) {
        notes_.push_back("link '" + link.name +
                         "' is the base and part of the ground: its mass has no effect");
      }
      return;
    }
    add_free_body();
  }

  // Three slides and three turns between ground and base, as a free body is described.
  void add_free_body() {
    static const char* const kNames[] = {"slide_x", "slide_y", "slide_z",
                                         "turn_y",  "turn_x",  "turn_z"};
    static const int kAxes[] = {0, 1, 2, 1, 0, 2};
    std::string below = "ground";
    for (int k = 0; k < 6; ++k) {
      const bool last = k == 5;
      const Eigen::Vector3d axis = Eigen::Vector3d::Unit(kAxes[k]);
      const Placement to_world = last ? upright() : Placement{};
      const std::string body = last ? add_body(robot_.links[robot_.root])
                                    : add_massless(std::string("base_") + kNames[k]);
      const Eigen::Vector3d inside = to_world.rotation.transpose() * axis;
      text_ += "hinge {\n  name: \"" + named(kNames[k]) + "\"\n" +
               (k < 3 ? "  kind: PRISMATIC\n" : "") +
               side("parent", below, Eigen::Vector3d::Zero(), axis, across(axis)) +
               side("child", body, Eigen::Vector3d::Zero(), inside,
                    to_world.rotation.transpose() * across(axis)) +
               "}\n";
      below = body;
    }
    root_ = {below, {}};
  }

  static std::string side(const std::string& which, const std::string& body,
                          const Eigen::Vector3d& at, const Eigen::Vector3d& axis,
                          const Eigen::Vector3d& zero) {
    std::string text = "  " + which + " { body: \"" + body + "\"";
    if (const std::string place = point(at); !place.empty()) text += " point {" + place + " }";
    return text + " axis " + direction(axis) + " zero_direction " + direction(zero) + " }\n";
  }

  std::string add_massless(const std::string& name) {
    const std::string body = named(name);
    text_ += "body { name: \"" + body + "\" massless: true }\n";
    return body;
  }

  std::string add_body(const UrdfLink& link) {
    if (!link.inertial) return add_massless(link.name);
    const UrdfInertial& inertial = *link.inertial;
    Eigen::Matrix3d J = estimator::possible_inertia(inertial.mass, inertial.inertia);
    const std::string body = named(link.name);
    if (J != inertial.inertia) {
      notes_.push_back("link '" + link.name +
                       "' has an inertia that no body has; the nearest possible one stands in its "
                       "place");
    }
    if (const double missing = kInertiaLeast - J.diagonal().minCoeff(); missing > 0.0) {
      J.diagonal().array() += missing;
      notes_.push_back(
          "link '" + link.name + "' has moments below " + number(kInertiaLeast) +
          " kg·m², the least that a rig file takes: all are raised by what is missing");
    }
    const double size = J.diagonal().maxCoeff();
    const auto entry = [&](const char* name, int i, int k) {
      const std::string value = number(J(i, k), size);
      return i != k && value == "0" ? "" : std::string(" ") + name + " { value: " + value + " }";
    };
    text_ += "body {\n  name: \"" + body + "\"\n  mass { value: " + number(inertial.mass) +
             " }\n  inertia {" + entry("xx", 0, 0) + entry("yy", 1, 1) + entry("zz", 2, 2) +
             entry("xy", 0, 1) + entry("xz", 0, 2) + entry("yz", 1, 2) + " }\n";
    if (const std::string center = point(inertial.center); !center.empty()) {
      text_ += "  center_of_mass {" + center + " }\n";
    }
    text_ += "}\n";
    return body;
  }

  void add_branch(const UrdfJoint& joint, const Carrier& parent) {
    const UrdfLink& link = robot_.links[joint.child];
    const bool moves = joint.type != UrdfJointType::kFixed && joint.mimicked.empty();
    const Carrier below{parent.body, parent.placement * joint.origin};
    if (!carries_mass(joint.child)) {
      if (moves)
        notes_.push_back("joint '" + joint.name + "' moves nothing that has mass: left out");
      return;
    }
    if (!joint.mimicked.empty()) {
      notes_.push_back("joint '" + joint.name + "' follows '" + joint.mimicked +
                       "': rig files cannot say so yet, and it is held at zero");
    }
    Carrier carrier = below;
    if (moves) {
      carrier = {add_body(link), {}};
      add_joint(joint, below, carrier.body);
    } else if (link.inertial && parent.body != "ground") {
      carrier = {add_body(link), {}};
      const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY();
      text_ += "hinge {\n  name: \"" + named(joint.name) + "\"\n  kind: FIXED\n" +
               side("parent", below.body, below.placement.translation, below.placement.rotation * x,
                    below.placement.rotation * y) +
               side("child", carrier.body, Eigen::Vector3d::Zero(), x, y) + "}\n";
    } else if (link.inertial) {
      notes_.push_back("link '" + link.name + "' is fixed to the ground: its mass has no effect");
    }
    for (const UrdfJoint* next : joints_below_[joint.child]) add_branch(*next, carrier);
  }

  void add_joint(const UrdfJoint& joint, const Carrier& parent, const std::string& child) {
    const bool slides = joint.type == UrdfJointType::kPrismatic;
    const std::string name = named(joint.name);
    const Eigen::Vector3d zero = across(joint.axis);
    const Eigen::Matrix3d& R = parent.placement.rotation;
    text_ += "hinge {\n  name: \"" + name + "\"\n" + (slides ? "  kind: PRISMATIC\n" : "") +
             side("parent", parent.body, parent.placement.translation, R * joint.axis, R * zero) +
             side("child", child, Eigen::Vector3d::Zero(), joint.axis, zero);
    add_friction(joint, slides);
    if (joint.effort > 0.0) {
      text_ += std::string("  motor { control_unit: \"") + (slides ? "N" : "N·m") +
               "\" gain { value: 1 } control_max: " + number(joint.effort) + " }\n";
      controls_ += "  control { hinge: \"" + name + "\" column: \"" + name + "_effort\" }\n";
    }
    text_ += "  encoder { }\n}\n";
    columns_ +=
        slides ? "  position { hinge: \"" + name + "\" column: \"" + name + "\" unit: METER }\n"
               : "  angle { hinge: \"" + name + "\" column: \"" + name + "\" unit: RADIAN }\n";
    add_safety(joint, name, slides);
  }

  void add_friction(const UrdfJoint& joint, bool slides) {
    const std::string free = choice_.friction ? " free: true" : "";
    const auto start = [&](double stated, double otherwise) {
      return number(stated > 0.0 || !choice_.friction ? std::max(stated, 0.0) : otherwise);
    };
    const bool stated = joint.damping > 0.0 || joint.friction > 0.0;
    if (!stated && !choice_.friction) return;
    text_ += "  friction {" + std::string(stated ? "" : "  # the URDF file states none") +
             "\n    viscous { value: " + start(joint.damping, kViscousStart) + free + " }\n    " +
             (slides ? "coulomb_force" : "coulomb_torque") +
             " { value: " + start(joint.friction, kDryStart) + free + " }\n  }\n";
  }

  void add_safety(const UrdfJoint& joint, const std::string& name, bool slides) {
    std::string limits;
    if (std::isfinite(joint.lower)) {
      limits += std::string(slides ? " position_m_min: " : " angle_rad_min: ") +
                number(joint.lower) + (slides ? " position_m_max: " : " angle_rad_max: ") +
                number(joint.upper);
    }
    if (joint.velocity > 0.0) {
      limits += std::string(slides ? " speed_m_per_s_max: " : " speed_rad_per_s_max: ") +
                number(joint.velocity);
    }
    if (!limits.empty()) safety_ += "  hinge { hinge: \"" + name + "\"" + limits + " }\n";
  }

  const UrdfRobot& robot_;
  const UrdfImport& choice_;
  std::vector<std::vector<const UrdfJoint*>> joints_below_;
  std::set<std::string> names_;
  Carrier root_;
  std::string text_, safety_, columns_, controls_;
  std::vector<std::string> notes_;
};

}  // namespace

RigText write_rig(const UrdfRobot& robot, const UrdfImport& choice) {
  return RigWriter(robot, choice).write();
}

}  // namespace service
