#include "service/import/rig_couplings.hpp"

#include <algorithm>
#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Returns the index of a moving joint; hinge_count() if there is none of that name.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  const auto found = std::ranges::find(mechanism.hinges, name, &estimator::Hinge::name);
  return static_cast<int>(found - mechanism.hinges.begin());
}

std::string others_of(const estimator::Mechanism& mechanism, const std::string& name) {
  std::string names;
  for (const estimator::Hinge& hinge : mechanism.hinges) {
    if (hinge.name != name) names += (names.empty() ? "" : ", ") + hinge.name;
  }
  return names;
}

}  // namespace

void add_couplings(const v1::Rig& rig, const proto::TextLocator& root,
                   estimator::Mechanism& mechanism) {
  for (int i = 0; i < rig.hinge_size(); ++i) {
    const v1::Hinge& joint = rig.hinge(i);
    if (!joint.has_follows()) continue;
    const v1::Follow& source = joint.follows();
    const proto::TextLocator place = root.at("hinge", i).at("follows");
    const std::string others = others_of(mechanism, joint.name());
    if (others.empty()) {
      place.fail("joint \"" + joint.name() + "\" is the only moving joint. Remove follows");
    }
    if (source.hinge().empty()) {
      place.fail("names no joint; write hinge: with one of " + others);
    }
    const int followed = find_joint(mechanism, source.hinge());
    if (followed == mechanism.hinge_count() || source.hinge() == joint.name()) {
      place.at("hinge").fail("\"" + source.hinge() + "\" is not another moving joint. Use one of " +
                             others);
    }
    mechanism.couplings.push_back({.hinge = find_joint(mechanism, joint.name()),
                                   .follows = followed,
                                   .ratio = source.has_ratio() ? source.ratio() : 1.0,
                                   .offset = source.offset()});
  }
}

}  // namespace service
