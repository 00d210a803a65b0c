#include "service/rig/rig_couplings.hpp"

#include <algorithm>
#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Returns the index of the moving joint with this name; joint_count() if there is none.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
  return static_cast<int>(found - mechanism.joints.begin());
}

std::string others_of(const estimator::Mechanism& mechanism, const std::string& name) {
  std::string names;
  for (const estimator::Joint& joint : mechanism.joints) {
    if (joint.name != name) names += (names.empty() ? "" : ", ") + joint.name;
  }
  return names;
}

}  // namespace

void add_couplings(const v1::Rig& rig, const proto::TextLocator& root,
                   estimator::Mechanism& mechanism) {
  for (int i = 0; i < rig.joint_size(); ++i) {
    const v1::Joint& joint = rig.joint(i);
    if (!joint.has_mimic()) continue;
    const v1::Mimic& source = joint.mimic();
    const proto::TextLocator place = root.at("joint", i).at("mimic");
    const std::string others = others_of(mechanism, joint.name());
    if (others.empty()) {
      place.fail("joint \"" + joint.name() + "\" is the only moving joint. Remove \"mimic\"");
    }
    if (source.joint().empty()) {
      place.fail("names no joint; write joint: with one of " + others);
    }
    const int followed = find_joint(mechanism, source.joint());
    if (followed == mechanism.joint_count() || source.joint() == joint.name()) {
      place.at("joint").fail("\"" + source.joint() + "\" is not another moving joint. Use one of " +
                             others);
    }
    mechanism.mimic_joints.push_back({.joint = find_joint(mechanism, joint.name()),
                                      .follows = followed,
                                      .ratio = source.has_ratio() ? source.ratio() : 1.0,
                                      .offset = source.offset()});
  }
}

}  // namespace service
