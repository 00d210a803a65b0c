#include "service/rig/robot/mjcf_source.hpp"

#include <Eigen/Geometry>
#include <cctype>
#include <cmath>
#include <cstring>

namespace service {

using tinyxml2::XMLElement;

namespace {

constexpr const char* kSaveIt =
    ". Load the model in MuJoCo and save it with <compiler saveinertial=\"true\"/>";
const std::string kMain = "main";

}  // namespace

MjcfSource::MjcfSource(const std::string& path, const std::string& text) : xml_(path, text) {
  const XMLElement* const root = xml_.root();
  if (root == nullptr || std::strcmp(root->Name(), "mujoco") != 0) {
    xml_.fail(root == nullptr ? 1 : root->GetLineNum(),
              "has no <mujoco> element. Give a MuJoCo model");
  }
  refuse(*root);
  for (const XMLElement* compiler : sections("compiler")) read_compiler(*compiler);
  for (const XMLElement* defaults : sections("default")) read_defaults(*defaults, "");
}

std::vector<const XMLElement*> MjcfSource::sections(const char* name) const {
  std::vector<const XMLElement*> found;
  for (const auto* e = root().FirstChildElement(name); e; e = e->NextSiblingElement(name)) {
    found.push_back(e);
  }
  return found;
}

void MjcfSource::refuse(const XMLElement& element) const {
  static const char* const kMade[] = {"include", "replicate", "attach", "composite", "flexcomp"};
  for (const auto* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
    for (const char* const made : kMade) {
      if (std::strcmp(e->Name(), made) != 0) continue;
      xml_.fail(*e,
                std::string("<") + made + "> refers to generated or external content" + kSaveIt);
    }
    refuse(*e);
  }
}

void MjcfSource::read_compiler(const XMLElement& element) {
  const auto is = [&](const char* name, const char* value) {
    const char* const text = element.Attribute(name);
    return text != nullptr && std::strcmp(text, value) == 0;
  };
  if (is("angle", "radian")) in_degrees_ = false;
  if (is("autolimits", "false")) limits_by_range_ = false;
  if (is("inertiafromgeom", "true")) inertia_from_shapes_ = true;
  if (is("coordinate", "global")) {
    xml_.fail(element, std::string("global coordinates of old models are not supported") + kSaveIt);
  }
  for (const char* const made : {"balanceinertia", "boundmass", "boundinertia", "settotalmass"}) {
    const char* const text = element.Attribute(made);
    if (text == nullptr || std::strcmp(text, "false") == 0) continue;
    if (std::strcmp(made, "balanceinertia") != 0) {
      const double value = xml_.numbers(element, made, text, 1).front();
      if (value == 0.0 || (value < 0.0 && std::strcmp(made, "settotalmass") == 0)) continue;
    }
    xml_.fail(element, std::string(made) + " changes the masses given in the file" + kSaveIt);
  }
  if (const char* const sequence = element.Attribute("eulerseq")) {
    euler_sequence_ = sequence;
    const bool known = euler_sequence_.size() == 3 &&
                       euler_sequence_.find_first_not_of("xyzXYZ") == std::string::npos;
    if (!known) xml_.fail(element, "eulerseq=\"" + euler_sequence_ + "\" is not three of xyzXYZ");
  }
}

void MjcfSource::read_defaults(const XMLElement& element, const std::string& parent) {
  const char* const stated = element.Attribute("class");
  if (stated == nullptr && !parent.empty()) xml_.fail(element, "a class of defaults has no name");
  const std::string name = stated == nullptr ? kMain : stated;
  if (!classes_.emplace(name, Class{parent, &element}).second) {
    xml_.fail(element, "class \"" + name + "\" of defaults is defined twice");
  }
  for (const auto* e = element.FirstChildElement("default"); e;
       e = e->NextSiblingElement("default")) {
    read_defaults(*e, name);
  }
}

const char* MjcfSource::attribute(const XMLElement& element, const char* kind, const char* name,
                                  const std::string& child) const {
  if (const char* const own = element.Attribute(name)) return own;
  const char* const chosen = element.Attribute("class");
  std::string at = chosen != nullptr ? chosen : child.empty() ? kMain : child;
  if (!classes_.contains(at) && at != kMain) {
    xml_.fail(element, "refers to class \"" + at + "\", which is not in <default>");
  }
  for (auto found = classes_.find(at); found != classes_.end();
       found = classes_.find(found->second.parent)) {
    const XMLElement* const e = found->second.element->FirstChildElement(kind);
    const char* const text = e == nullptr ? nullptr : e->Attribute(name);
    if (text != nullptr) return text;
  }
  return nullptr;
}

std::vector<double> MjcfSource::numbers(const XMLElement& element, const char* kind,
                                        const char* name, const std::string& child,
                                        std::size_t count) const {
  const char* const text = attribute(element, kind, name, child);
  return text == nullptr ? std::vector<double>{} : xml_.numbers(element, name, text, count);
}

double MjcfSource::number_or(const XMLElement& element, const char* kind, const char* name,
                             const std::string& child, double otherwise) const {
  const std::vector<double> values = numbers(element, kind, name, child, 1);
  return values.empty() ? otherwise : values.front();
}

Eigen::Matrix3d MjcfSource::orientation(const XMLElement& element) const {
  const auto stated = [&](const char* name, std::size_t count) {
    const char* const text = element.Attribute(name);
    return text == nullptr ? std::vector<double>{} : xml_.numbers(element, name, text, count);
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
    return Eigen::AngleAxisd(radians(v[3]), axis(v.data())).toRotationMatrix();
  }
  if (const auto v = stated("euler", 3); !v.empty()) {
    Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
    for (std::size_t k = 0; k < 3; ++k) {
      // Lower-case letters are intrinsic rotations, capitals extrinsic ones.
      const char letter = euler_sequence_[k];
      const int about = std::tolower(letter) - 'x';
      const Eigen::Matrix3d turn =
          Eigen::AngleAxisd(radians(v[k]), Eigen::Vector3d::Unit(about)).toRotationMatrix();
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

Placement MjcfSource::placement(const XMLElement& element) const {
  return {orientation(element), xml_.vector_or(&element, "pos", Eigen::Vector3d::Zero())};
}

}  // namespace service
