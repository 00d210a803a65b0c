#include "service/rig/robot/mjcf_source.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>

namespace service {
namespace {

using tinyxml2::XMLElement;

const std::string kMain = "main";

constexpr double kNear = 1e-6;  // tolerance of equality [m] or [-]

std::string name_of(const XMLElement& element) {
  const char* const name = element.Attribute("name");
  if (name == nullptr) return "of line " + std::to_string(element.GetLineNum());
  return std::string("\"").append(name).append("\"");
}

/// Adds a motor to its joint. Its force is gear · (gain · control + bias), with bias proportional
/// to speed.
/// @return why the motor cannot be represented; empty if it was added
std::string add_motor(const MjcfSource& source, const XMLElement& element, Robot& robot) {
  // All actuator types share their defaults.
  const auto numbers = [&](const char* name) {
    auto found = source.read_numbers(element, "general", name, "");
    return found.empty() ? source.read_numbers(element, "motor", name, "") : found;
  };
  const auto first = [&](const char* name, double otherwise) {
    const auto found = numbers(name);
    return found.empty() ? otherwise : found.front();
  };
  const auto word = [&](const char* name, const char* otherwise) -> std::string {
    const char* const text = source.find_attribute(element, "general", name, "");
    return text == nullptr ? otherwise : text;
  };
  const std::string kind = element.Name();
  if (kind != "motor" && kind != "general")
    return "is of type " + kind + ", which is not supported";
  const char* const on = element.Attribute("joint");
  const auto joint = std::ranges::find_if(
      robot.joints, [&](const RobotJoint& j) { return on != nullptr && j.name == on; });
  if (joint == robot.joints.end()) return "drives no imported joint";
  if (joint->motor) return "is the second motor of joint \"" + joint->name + "\"";
  const double gear = first("gear", 1.0);
  double gain = gear, back = 0.0;
  if (kind == "general") {
    if (word("dyntype", "none") != "none") return "has internal dynamics (dyntype)";
    if (word("gaintype", "fixed") != "fixed") return "has a variable gain (gaintype)";
    gain = gear * first("gainprm", 1.0);
    const std::string bias = word("biastype", "none");
    if (bias != "none" && bias != "affine") return "has a bias that is not affine";
    auto terms = bias == "none" ? std::vector<double>{} : numbers("biasprm");
    terms.resize(std::max<std::size_t>(terms.size(), 3), 0.0);
    if (terms[0] != 0.0 || terms[1] != 0.0) return "is a servo (biasprm)";
    if (gain != 0.0) back = -gear * gear * terms[2] / gain;
  }
  joint->motor = {.control_unit = gain != 1.0 ? "1" : joint->kind_traits().units.force,
                  .gain = gain,
                  .back_emf = back};
  const auto range = numbers("ctrlrange");
  if (range.size() == 2) {
    joint->motor->control_max = std::max(std::abs(range[0]), std::abs(range[1]));
  }
  return "";
}

/// Point at which two links are connected.
struct Connection {
  std::string name;
  std::array<MjcfReferencePoses::SitePosition, 2> ends;
};

class ConstraintReader {
 public:
  ConstraintReader(const MjcfSource& source, const MjcfReferencePoses& places, Robot& robot)
      : source_(source),
        places_(places),
        robot_(robot),
        index_(robot),
        above_(robot.links.size(), nullptr) {
    for (const RobotJoint& joint : robot.joints) above_[joint.child] = &joint;
  }

  void read() {
    std::vector<Connection> connections;
    for (const XMLElement* section : source_.top_level_elements("equality")) {
      for (const auto* e = section->FirstChildElement(); e; e = e->NextSiblingElement()) {
        const char* const active = e->Attribute("active");
        if (active != nullptr && std::strcmp(active, "false") == 0) continue;
        if (add_following(*e)) continue;
        if (!add_connection(*e, connections)) leave_out(name_of(*e));
      }
    }
    for (std::size_t k = 0; k < connections.size(); ++k) {
      const bool pair = k + 1 < connections.size() && belong(connections[k], connections[k + 1]);
      const bool added =
          pair ? add_joint(connections[k], connections[k + 1]) : add_flat_joint(connections[k]);
      if (!added) leave_out("\"" + connections[k].name + "\"");
      k += pair ? 1 : 0;
    }
  }

 private:
  void leave_out(const std::string& name) const {
    proto::add_note(robot_.notes,
                    "constraint {} is left out, because it is neither a joint between two bodies "
                    "nor a linear joint coupling",
                    name);
  }

  /// Adds the coupling y − y₀ = c₀ + c₁ (x − x₀) of joint coordinates x and y, which are x₀ and y₀
  /// in the pose of the file.
  bool add_following(const XMLElement& element) const {
    if (std::strcmp(element.Name(), "joint") != 0) return false;
    const char* const one = element.Attribute("joint1");
    const char* const two = element.Attribute("joint2");
    if (one == nullptr || two == nullptr) return false;
    const RobotJoint* const found = index_.find(one);
    const auto x0 = places_.references.find(two), y0 = places_.references.find(one);
    const auto none = places_.references.end();
    if (found == nullptr || found->follows || x0 == none || y0 == none) return false;
    if (index_.does_mimic(*index_.find(two), *found)) return false;
    std::vector<double> c = {0.0, 1.0};
    if (const char* const text = element.Attribute("polycoef")) {
      c = source_.xml().parse_numbers(element, "polycoef", text, 0);
    }
    c.resize(std::max<std::size_t>(c.size(), 2), 0.0);
    const auto is_zero = [](double value) { return value == 0.0; };
    if (c[1] == 0.0 || !std::all_of(c.begin() + 2, c.end(), is_zero)) return false;
    RobotJoint& joint = robot_.joints[static_cast<std::size_t>(found - robot_.joints.data())];
    joint.follows = {.joint = two, .ratio = c[1], .offset = y0->second + c[0] - c[1] * x0->second};
    return true;
  }

  bool add_connection(const XMLElement& element, std::vector<Connection>& connections) const {
    if (std::strcmp(element.Name(), "connect") != 0) return false;
    Connection connection;
    const char* const name = element.Attribute("name");
    connection.name = name != nullptr ? name : "loop" + std::to_string(element.GetLineNum());
    if (element.Attribute("site1") != nullptr) {
      for (std::size_t k = 0; k < 2; ++k) {
        const char* const site = element.Attribute(k == 0 ? "site1" : "site2");
        const auto found = places_.sites.find(site == nullptr ? "" : site);
        if (found == places_.sites.end()) return false;
        connection.ends[k] = found->second;
      }
    } else {
      std::array<std::size_t, 2> links{};
      for (std::size_t k = 0; k < 2; ++k) {
        const char* const body = element.Attribute(k == 0 ? "body1" : "body2");
        const auto found = places_.links.find(body == nullptr ? "world" : body);
        if (found == places_.links.end()) return false;
        links[k] = found->second;
      }
      const Eigen::Vector3d anchor =
          source_.xml().vector_or_default(&element, "anchor", Eigen::Vector3d::Zero());
      const Placement between =
          places_.at_reference[links[1]].inverse() * places_.at_reference[links[0]];
      connection.ends = {MjcfReferencePoses::SitePosition{links[0], anchor},
                         MjcfReferencePoses::SitePosition{
                             links[1], between.rotation * anchor + between.translation}};
    }
    // The world cannot be the child.
    if (connection.ends[1].link == 0) std::swap(connection.ends[0], connection.ends[1]);
    connections.push_back(connection);
    return connection.ends[0].link != connection.ends[1].link;
  }

  static bool belong(const Connection& a, const Connection& b) {
    return a.ends[0].link == b.ends[0].link && a.ends[1].link == b.ends[1].link;
  }

  void add(const Connection& at, const std::string& name, const Eigen::Vector3d& first_axis,
           const Eigen::Vector3d& second_axis) const {
    RobotLoop loop{.name = name};
    for (std::size_t k = 0; k < 2; ++k) {
      loop.links[k] = at.ends[k].link;
      loop.points[k] = at.ends[k].at;
    }
    loop.axes[0] = first_axis;
    loop.axes[1] = second_axis;
    robot_.loops.push_back(loop);
  }

  /// Adds a loop-closing joint whose axis goes through two connection points.
  bool add_joint(const Connection& a, const Connection& b) const {
    const Eigen::Vector3d first = b.ends[0].at - a.ends[0].at, second = b.ends[1].at - a.ends[1].at;
    const double length = first.norm();
    if (!(length > kNear) || !(std::abs(second.norm() - length) < kNear * length)) return false;
    std::string name = a.name;
    if (name.ends_with("_1")) name.resize(name.size() - 2);
    add(a, name, first / length, second / second.norm());
    return true;
  }

  /// Adds a loop-closing joint at one connection point. The loop must be planar: its revolute
  /// joints are parallel to each other and perpendicular to its prismatic joints.
  bool add_flat_joint(const Connection& connection) const {
    std::set<const RobotJoint*> around;
    for (const MjcfReferencePoses::SitePosition& end : connection.ends) {
      for (const RobotJoint* j = above_[end.link]; j != nullptr; j = above_[j->parent]) {
        if (!around.insert(j).second) around.erase(j);  // on both branches: above the loop
      }
    }
    std::vector<Eigen::Vector3d> turns, slides;
    for (const RobotJoint* joint : around) {
      if (!joint->moves()) continue;
      const Eigen::Vector3d axis = orientation_of(joint->child) * joint->axis;
      (joint->kind_traits().turns ? turns : slides).push_back(axis);
    }
    if (turns.empty()) return false;
    const Eigen::Vector3d normal = turns.front();
    const auto parallel = [&](const Eigen::Vector3d& v) { return v.cross(normal).norm() < kNear; };
    const auto across = [&](const Eigen::Vector3d& v) { return std::abs(v.dot(normal)) < kNear; };
    if (!std::ranges::all_of(turns, parallel) || !std::ranges::all_of(slides, across)) return false;
    add(connection, connection.name, orientation_of(connection.ends[0].link).transpose() * normal,
        orientation_of(connection.ends[1].link).transpose() * normal);
    return true;
  }

  /// Returns the orientation of a link in the pose of the file.
  const Eigen::Matrix3d& orientation_of(std::size_t link) const {
    return places_.at_reference[link].rotation;
  }

  const MjcfSource& source_;
  const MjcfReferencePoses& places_;
  Robot& robot_;
  JointIndex index_;
  std::vector<const RobotJoint*> above_;
};

}  // namespace

MjcfSource::MjcfSource(const std::string& path, const std::string& text) : xml_(path, text) {
  const XMLElement* const root = xml_.root();
  if (root == nullptr || std::strcmp(root->Name(), "mujoco") != 0) {
    xml_.fail(root == nullptr ? 1 : root->GetLineNum(),
              "has no <mujoco> element. Give a MuJoCo model");
  }
  reject_unsupported_element(*root);
  for (const XMLElement* compiler : top_level_elements("compiler"))
    read_compiler_settings(*compiler);
  for (const XMLElement* defaults : top_level_elements("default"))
    read_default_classes(*defaults, "");
}

std::vector<const XMLElement*> MjcfSource::top_level_elements(const char* name) const {
  std::vector<const XMLElement*> found;
  for (const auto* e = root().FirstChildElement(name); e; e = e->NextSiblingElement(name)) {
    found.push_back(e);
  }
  return found;
}

void MjcfSource::reject_unsupported_element(const XMLElement& element) const {
  static const char* const kMade[] = {"include", "replicate", "attach", "composite", "flexcomp"};
  for (const auto* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
    for (const char* const made : kMade) {
      if (std::strcmp(e->Name(), made) != 0) continue;
      xml_.fail(*e, "<{}> refers to generated or external content. {}", made, kSaveInMujoco);
    }
    reject_unsupported_element(*e);
  }
}

void MjcfSource::read_compiler_settings(const XMLElement& element) {
  const auto is = [&](const char* name, const char* value) {
    const char* const text = element.Attribute(name);
    return text != nullptr && std::strcmp(text, value) == 0;
  };
  if (is("angle", "radian")) in_degrees_ = false;
  if (is("autolimits", "false")) limits_by_range_ = false;
  if (is("inertiafromgeom", "true")) inertia_from_shapes_ = true;
  if (is("coordinate", "global")) {
    xml_.fail(element, "global coordinates of old models are not supported. {}", kSaveInMujoco);
  }
  for (const char* const made : {"balanceinertia", "boundmass", "boundinertia", "settotalmass"}) {
    const char* const text = element.Attribute(made);
    if (text == nullptr || std::strcmp(text, "false") == 0) continue;
    if (std::strcmp(made, "balanceinertia") != 0) {
      const double value = xml_.parse_numbers(element, made, text, 1).front();
      if (value == 0.0 || (value < 0.0 && std::strcmp(made, "settotalmass") == 0)) continue;
    }
    xml_.fail(element, "{} changes the masses given in the file. {}", made, kSaveInMujoco);
  }
  if (const char* const sequence = element.Attribute("eulerseq")) {
    euler_sequence_ = sequence;
    const bool known = euler_sequence_.size() == 3 &&
                       euler_sequence_.find_first_not_of("xyzXYZ") == std::string::npos;
    if (!known) xml_.fail(element, "eulerseq={:?} is not three of xyzXYZ", euler_sequence_);
  }
}

void MjcfSource::read_default_classes(const XMLElement& element, const std::string& parent) {
  const char* const stated = element.Attribute("class");
  if (stated == nullptr && !parent.empty()) xml_.fail(element, "a class of defaults has no name");
  const std::string name = stated == nullptr ? kMain : stated;
  if (!classes_.emplace(name, DefaultClass{parent, &element}).second) {
    xml_.fail(element, "class {:?} of defaults is defined twice", name);
  }
  for (const auto* e = element.FirstChildElement("default"); e;
       e = e->NextSiblingElement("default")) {
    read_default_classes(*e, name);
  }
}

const char* MjcfSource::find_attribute(const XMLElement& element, const char* kind,
                                       const char* name, const std::string& child) const {
  if (const char* const own = element.Attribute(name)) return own;
  const char* const chosen = element.Attribute("class");
  std::string at = chosen != nullptr ? chosen : child.empty() ? kMain : child;
  if (!classes_.contains(at) && at != kMain) {
    xml_.fail(element, "refers to class {:?}, which is not in <default>", at);
  }
  for (auto found = classes_.find(at); found != classes_.end();
       found = classes_.find(found->second.parent)) {
    const XMLElement* const e = found->second.element->FirstChildElement(kind);
    const char* const text = e == nullptr ? nullptr : e->Attribute(name);
    if (text != nullptr) return text;
  }
  return nullptr;
}

std::vector<double> MjcfSource::read_numbers(const XMLElement& element, const char* kind,
                                             const char* name, const std::string& child,
                                             std::size_t count) const {
  const char* const text = find_attribute(element, kind, name, child);
  return text == nullptr ? std::vector<double>{} : xml_.parse_numbers(element, name, text, count);
}

double MjcfSource::number_or_default(const XMLElement& element, const char* kind, const char* name,
                                     const std::string& child, double otherwise) const {
  const std::vector<double> values = read_numbers(element, kind, name, child, 1);
  return values.empty() ? otherwise : values.front();
}

Eigen::Matrix3d MjcfSource::read_orientation(const XMLElement& element) const {
  const auto stated = [&](const char* name, std::size_t count) {
    const char* const text = element.Attribute(name);
    return text == nullptr ? std::vector<double>{} : xml_.parse_numbers(element, name, text, count);
  };
  const auto axis = [&](const double* v) {
    const Eigen::Vector3d direction(v);
    if (!(direction.norm() > 1e-12)) xml_.fail(element, "has a zero axis");
    return Eigen::Vector3d(direction.normalized());
  };
  if (const auto v = stated("quat", 4); !v.empty()) {
    const Eigen::Quaterniond q(v[0], v[1], v[2], v[3]);
    if (!(q.norm() > 1e-12)) xml_.fail(element, "has a zero quat");
    return q.normalized().toRotationMatrix();
  }
  if (const auto v = stated("axisangle", 4); !v.empty()) {
    return Eigen::AngleAxisd(to_radians(v[3]), axis(v.data())).toRotationMatrix();
  }
  if (const auto v = stated("euler", 3); !v.empty()) {
    Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
    for (std::size_t k = 0; k < 3; ++k) {
      // Lower-case letters are intrinsic rotations, capitals extrinsic ones.
      const char letter = euler_sequence_[k];
      const int about = std::tolower(letter) - 'x';
      const Eigen::Matrix3d turn =
          Eigen::AngleAxisd(to_radians(v[k]), Eigen::Vector3d::Unit(about)).toRotationMatrix();
      R = std::islower(letter) ? Eigen::Matrix3d(R * turn) : Eigen::Matrix3d(turn * R);
    }
    return R;
  }
  if (const auto v = stated("xyaxes", 6); !v.empty()) {
    Eigen::Matrix3d R;
    R.col(0) = axis(v.data());
    const Eigen::Vector3d y(v.data() + 3);
    const Eigen::Vector3d across = y - y.dot(R.col(0)) * R.col(0);
    R.col(1) = axis(across.data());
    R.col(2) = R.col(0).cross(R.col(1));
    return R;
  }
  if (const auto v = stated("zaxis", 3); !v.empty()) {
    return Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), axis(v.data()))
        .toRotationMatrix();
  }
  return Eigen::Matrix3d::Identity();
}

Placement MjcfSource::read_placement(const XMLElement& element) const {
  return {read_orientation(element),
          xml_.vector_or_default(&element, "pos", Eigen::Vector3d::Zero())};
}

void add_motors_and_couplings(const MjcfSource& source, const MjcfReferencePoses& places,
                              Robot& robot) {
  for (const XMLElement* section : source.top_level_elements("actuator")) {
    for (const auto* e = section->FirstChildElement(); e; e = e->NextSiblingElement()) {
      const std::string fault = add_motor(source, *e, robot);
      if (fault.empty()) continue;
      proto::add_note(robot.notes, "actuator {} {}: left out", name_of(*e), fault);
    }
  }
  ConstraintReader(source, places, robot).read();
  for (const char* const section : {"tendon", "deformable"}) {
    for (const XMLElement* element : source.top_level_elements(section)) {
      for (const auto* e = element->FirstChildElement(); e; e = e->NextSiblingElement()) {
        proto::add_note(robot.notes, "{} {} is left out", section, name_of(*e));
      }
    }
  }
}

}  // namespace service
