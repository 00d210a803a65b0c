#include "service/rig/robot/robot.hpp"

#include <Eigen/Geometry>
#include <cstring>

#include "service/rig/robot/mjcf_source.hpp"

namespace service {
namespace {

using tinyxml2::XMLElement;

class MjcfReader {
 public:
  MjcfReader(const std::string& path, const std::string& text) : source_(path, text) {}

  Robot read() {
    const char* const model = source_.root().Attribute("model");
    robot_.name = model == nullptr ? "MuJoCo model" : model;
    read_physics_options();
    robot_.links.push_back({.name = "world", .inertial = {}});
    places_.links.emplace("world", 0);
    places_.at_reference.emplace_back();
    for (const XMLElement* world : source_.top_level_elements("worldbody")) {
      read_contents(*world, {.link = 0, .placement = {}, .classes = "", .moves = false});
    }
    add_motors_and_couplings(source_, places_, robot_);
    return std::move(robot_);
  }

 private:
  void read_physics_options() {
    Eigen::Vector3d gravity(0.0, 0.0, -9.81);  // MuJoCo's default
    for (const XMLElement* option : source_.top_level_elements("option")) {
      gravity = source_.xml().vector_or_default(option, "gravity", gravity);
      for (const char* const fluid : {"density", "viscosity"}) {
        if (source_.xml().number_or_default(option, fluid, 0.0) == 0.0) continue;
        proto::add_note(robot_.notes, "the fluid's {} is not supported and left out", fluid);
      }
      const XMLElement* const flag = option->FirstChildElement("flag");
      const char* const pulls = flag == nullptr ? nullptr : flag->Attribute("gravity");
      if (pulls != nullptr && std::strcmp(pulls, "disable") == 0) gravity.setZero();
    }
    robot_.gravity = gravity;
  }

  /// Parent link of a body, with the pose in the link's frame and the default class of its
  /// contents.
  struct Parent {
    std::size_t link;
    Placement placement;
    std::string classes;
    bool moves;  ///< the parent moves relative to the world
  };

  static std::string classes_of(const XMLElement& element, const std::string& around) {
    const char* const own = element.Attribute("childclass");
    return own == nullptr ? around : own;
  }

  void read_contents(const XMLElement& element, const Parent& parent) {
    for (const auto* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (std::strcmp(e->Name(), "body") == 0) read_body(*e, parent);
      if (std::strcmp(e->Name(), "site") == 0) read_site(*e, parent);
      if (std::strcmp(e->Name(), "frame") == 0) {
        read_contents(*e, {parent.link, parent.placement * source_.read_placement(*e),
                           classes_of(*e, parent.classes), parent.moves});
      }
    }
  }

  void read_site(const XMLElement& element, const Parent& parent) {
    const char* const name = element.Attribute("name");
    if (name == nullptr) return;
    const Eigen::Vector3d at =
        source_.xml().vector_or_default(&element, "pos", Eigen::Vector3d::Zero());
    places_.sites[name] = {parent.link,
                           parent.placement.rotation * at + parent.placement.translation};
  }

  std::string name_of_body(const XMLElement& element) {
    const char* const name = element.Attribute("name");
    return name != nullptr ? name : "body" + std::to_string(++unnamed_);
  }

  void read_body(const XMLElement& element, const Parent& parent) {
    const std::string name = name_of_body(element);
    const std::string classes = classes_of(element, parent.classes);
    const Placement placement = parent.placement * source_.read_placement(element);
    std::vector<const XMLElement*> joints;
    const XMLElement* free = nullptr;
    for (const auto* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (std::strcmp(e->Name(), "freejoint") == 0) free = e;
      if (std::strcmp(e->Name(), "joint") != 0) continue;
      const std::string type = type_of(*e, classes);
      if (type == "free") {
        free = e;
      } else if (kind_of(type)) {
        joints.push_back(e);
      } else {
        source_.xml().fail(*e,
                           "a joint has the type {}. Supported types are hinge, slide and free; "
                           "three hinges make a ball joint",
                           type);
      }
    }
    if (free != nullptr && (parent.link != 0 || !joints.empty())) {
      source_.xml().fail(*free,
                         "body {:?} has a free joint, so it must be a child of the world "
                         "and have no other joint",
                         name);
    }
    const bool moves = parent.moves || free != nullptr || !joints.empty();
    const std::size_t link = add_link(name, element, moves);
    places_.at_reference.resize(robot_.links.size());
    places_.at_reference[link] = places_.at_reference[parent.link] * placement;
    if (free != nullptr) {
      const std::string prefix = free_bodies_++ == 0 ? "" : name + "_";
      add_free_joint(robot_, parent.link, link, prefix, free->GetLineNum());
    } else {
      add_joints(joints, name, classes, parent.link, link, placement);
    }
    // Auxiliary links between the joints of one body have its pose.
    const Placement at_reference = places_.at_reference[link];
    places_.at_reference.resize(robot_.links.size(), at_reference);
    read_contents(element, {link, {}, classes, moves});
  }

  static std::optional<estimator::JointKind> kind_of(std::string_view type) {
    const auto* const found =
        std::ranges::find(estimator::kJointKinds, type,
                          [](const auto& each) -> std::string_view { return each.mjcf; });
    return found == std::end(estimator::kJointKinds) ? std::nullopt : std::optional(found->kind);
  }

  std::string type_of(const XMLElement& joint, const std::string& classes) const {
    const char* const type = source_.find_attribute(joint, "joint", "type", classes);
    return type == nullptr ? "hinge" : type;
  }

  std::size_t add_link(const std::string& name, const XMLElement& element, bool moves) {
    RobotLink link{.name = name, .inertial = {}};
    const XMLElement* const inertial = element.FirstChildElement("inertial");
    const XMLElement* const shape = element.FirstChildElement("geom");
    const bool from_shapes = inertial == nullptr || source_.infers_inertia_from_geometry();
    if (moves && from_shapes && shape != nullptr) {
      source_.xml().fail(
          element, "body {:?} has {}, so its mass would be computed from geometry. {}", name,
          inertial == nullptr ? "no <inertial>" : "an <inertial> that inertiafromgeom disables",
          kSaveInMujoco);
    }
    if (inertial != nullptr) link.inertial = read_inertial(*inertial, name);
    if (!places_.links.emplace(name, robot_.links.size()).second) {
      source_.xml().fail(element, "body {:?} is defined twice", name);
    }
    push_link(std::move(link), element);
    return robot_.links.size() - 1;
  }

  void push_link(RobotLink link, const XMLElement& element) {
    if (robot_.links.size() >= kRobotLinksMax) source_.xml().fail(element, kTooManyLinks);
    robot_.links.push_back(std::move(link));
  }

  std::optional<RobotInertial> read_inertial(const XMLElement& element,
                                             const std::string& name) const {
    const XmlSource& xml = source_.xml();
    const Placement frame = source_.read_placement(element);
    const double mass = xml.number_or_default(&element, "mass", 0.0);
    if (mass < 0.0) source_.xml().fail(element, "body {:?} has a negative mass", name);
    if (mass == 0.0) return std::nullopt;
    Eigen::Matrix3d J = Eigen::Matrix3d::Zero();
    if (const char* const full = element.Attribute("fullinertia")) {
      const std::vector<double> v = xml.parse_numbers(element, "fullinertia", full, 6);
      J << v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2];
    } else {
      J.diagonal() = xml.vector_or_default(&element, "diaginertia", Eigen::Vector3d::Zero());
    }
    return RobotInertial{.mass = mass,
                         .center = frame.translation,
                         .inertia = frame.rotation * J * frame.rotation.transpose()};
  }

  /// Adds all joints of a body in series, with massless links between them.
  void add_joints(const std::vector<const XMLElement*>& elements, const std::string& body,
                  const std::string& classes, std::size_t parent, std::size_t child,
                  const Placement& placement) {
    Placement origin = placement;
    if (elements.empty()) {
      RobotJoint joint{.name = body + "_fixed", .parent = parent, .child = child, .origin = origin};
      joint.line = source_.root().GetLineNum();
      robot_.joints.push_back(joint);
      return;
    }
    for (std::size_t k = 0; k < elements.size(); ++k) {
      RobotJoint joint = read_joint(*elements[k], body, classes, k);
      joint.parent = parent;
      joint.child = child;
      if (k + 1 < elements.size()) {
        joint.child = robot_.links.size();
        push_link({.name = body + "_after_" + joint.name, .inertial = {}}, *elements[k]);
      }
      // The file's pose is that at coordinate `ref`.
      const double at_file = reference_of(*elements[k], joint.kind_traits(), classes);
      joint.origin = origin * moved_by(joint, -at_file);
      places_.references[joint.name] = at_file;
      origin = {};
      parent = joint.child;
      robot_.joints.push_back(std::move(joint));
    }
  }

  double reference_of(const XMLElement& element, const estimator::JointTraits& is,
                      const std::string& classes) const {
    const double ref = source_.number_or_default(element, "joint", "ref", classes, 0.0);
    return is.turns ? source_.to_radians(ref) : ref;
  }

  /// Returns the displacement of the child link if the joint moves by `by` [rad or m].
  static Placement moved_by(const RobotJoint& joint, double by) {
    if (by == 0.0) return {};
    if (!joint.kind_traits().turns) return {.translation = by * joint.axis};
    Placement moved;
    moved.rotation = Eigen::AngleAxisd(by, joint.axis).toRotationMatrix();
    moved.translation = joint.at - moved.rotation * joint.at;
    return moved;
  }

  RobotJoint read_joint(const XMLElement& element, const std::string& body,
                        const std::string& classes, std::size_t number) {
    RobotJoint joint;
    joint.kind = kind_of(type_of(element, classes));
    const auto vector = [&](const char* name, const Eigen::Vector3d& otherwise) {
      const std::vector<double> v = source_.read_numbers(element, "joint", name, classes, 3);
      return v.empty() ? otherwise : Eigen::Vector3d(v.data());
    };
    const auto coordinate = [&](double value) {
      return joint.kind_traits().turns ? source_.to_radians(value) : value;
    };
    const char* const name = element.Attribute("name");
    joint.name = name != nullptr ? name
                 : number == 0   ? body + "_joint"
                                 : body + "_joint" + std::to_string(number + 1);
    joint.line = element.GetLineNum();
    joint.axis = vector("axis", Eigen::Vector3d::UnitZ());
    if (!(joint.axis.norm() > 1e-9)) {
      source_.xml().fail(element, "joint {:?} has a zero axis", joint.name);
    }
    joint.axis.normalize();
    joint.at = vector("pos", Eigen::Vector3d::Zero());
    joint.damping = first_of(element, "damping", classes, joint.name);
    joint.stiffness = first_of(element, "stiffness", classes, joint.name);
    joint.friction = source_.number_or_default(element, "joint", "frictionloss", classes, 0.0);
    joint.armature = source_.number_or_default(element, "joint", "armature", classes, 0.0);
    joint.rest = coordinate(source_.number_or_default(element, "joint", "springref", classes, 0.0));
    if (source_.find_attribute(element, "joint", "springdamper", classes) != nullptr) {
      proto::add_note(robot_.notes, "joint {:?}: springdamper is left out", joint.name);
    }
    const char* const limited = source_.find_attribute(element, "joint", "limited", classes);
    const auto range = source_.read_numbers(element, "joint", "range", classes, 2);
    const bool by_range = limited == nullptr || std::strcmp(limited, "auto") == 0;
    if (!range.empty() &&
        (by_range ? source_.infers_limits_from_range() : std::strcmp(limited, "true") == 0)) {
      joint.lower = coordinate(range[0]);
      joint.upper = coordinate(range[1]);
    }
    return joint;
  }

  /// Returns the linear coefficient of a property. Higher coefficients are not supported and noted.
  double first_of(const XMLElement& element, const char* name, const std::string& classes,
                  const std::string& joint) {
    const std::vector<double> v = source_.read_numbers(element, "joint", name, classes);
    for (std::size_t k = 1; k < v.size(); ++k) {
      if (v[k] == 0.0) continue;
      proto::add_note(robot_.notes, "joint {:?}: the nonlinear coefficients of {} are left out",
                      joint, name);
      break;
    }
    return v.empty() ? 0.0 : v.front();
  }

  MjcfSource source_;
  Robot robot_;
  MjcfReferencePoses places_;
  int unnamed_ = 0, free_bodies_ = 0;
};

}  // namespace

Robot parse_mjcf(const std::string& path, const std::string& text) {
  return MjcfReader(path, text).read();
}

}  // namespace service
