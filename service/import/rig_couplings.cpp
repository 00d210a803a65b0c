#include "service/import/rig_couplings.hpp"

#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// The joint of that name that moves, or −1.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (mechanism.hinges[static_cast<std::size_t>(j)].name == name) return j;
  }
  return -1;
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
      place.fail("joint '" + joint.name() + "' is the only one that moves; remove follows");
    }
    if (source.hinge().empty()) {
      place.fail("names no joint; write hinge: with one of " + others);
    }
    const int followed = find_joint(mechanism, source.hinge());
    if (followed < 0 || source.hinge() == joint.name()) {
      place.at("hinge").fail("'" + source.hinge() + "' is no other joint that moves; use one of " +
                             others);
    }
    mechanism.couplings.push_back({.hinge = find_joint(mechanism, joint.name()),
                                   .follows = followed,
                                   .ratio = source.has_ratio() ? source.ratio() : 1.0,
                                   .offset = source.offset()});
  }
}

}  // namespace service
