#include "service/rig/rig_chain.hpp"

#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;

constexpr int kLinksMax = 32;

void set_direction(v1::Direction* direction, double x, double y, double z) {
  direction->set_x(x);
  direction->set_y(y);
  direction->set_z(z);
}

// A link is long in x. A slender rod gets 0.1 % of its transverse inertia about its own axis, since
// zero would make the mass matrix singular.
void set_rod_inertia(double mass, double length, v1::Inertia* inertia) {
  const double across = mass * length * length / 12.0;
  inertia->mutable_xx()->set_value(1e-3 * across);
  inertia->mutable_yy()->set_value(across);
  inertia->mutable_zz()->set_value(across);
}

void add_link(const v1::Chain& chain, int index, v1::Rig& rig) {
  v1::Body* body = rig.add_body();
  body->set_name("link" + std::to_string(index + 1));
  *body->mutable_mass() = chain.mass();
  if (chain.has_inertia()) {
    *body->mutable_inertia() = chain.inertia();
  } else {
    set_rod_inertia(chain.mass().value(), chain.length_m(), body->mutable_inertia());
  }
}

void add_joint(const v1::Chain& chain, int index, v1::Rig& rig) {
  v1::Joint* joint = rig.add_joint();
  joint->set_name("joint" + std::to_string(index + 1));
  v1::JointSide* parent = joint->mutable_parent();
  set_direction(parent->mutable_axis(), 0.0, 0.0, 1.0);
  if (index == 0) {
    parent->set_body("ground");
    set_direction(parent->mutable_zero_direction(), 0.0, -1.0, 0.0);
  } else {
    parent->set_body("link" + std::to_string(index));
    parent->mutable_point()->mutable_x()->set_value(0.5 * chain.length_m());
    set_direction(parent->mutable_zero_direction(), 1.0, 0.0, 0.0);
  }
  v1::JointSide* child = joint->mutable_child();
  child->set_body("link" + std::to_string(index + 1));
  child->mutable_point()->mutable_x()->set_value(-0.5 * chain.length_m());
  set_direction(child->mutable_axis(), 0.0, 0.0, 1.0);
  set_direction(child->mutable_zero_direction(), 1.0, 0.0, 0.0);
  if (chain.has_friction()) *joint->mutable_friction() = chain.friction();
  if (chain.has_encoder()) *joint->mutable_encoder() = chain.encoder();
  if (chain.has_constraint()) *joint->mutable_constraint() = chain.constraint();
}

}  // namespace

void expand_chain(v1::Rig& rig, const proto::TextLocator& place) {
  if (!rig.has_chain()) return;
  const v1::Chain chain = rig.chain();
  if (rig.body_size() > 0 || rig.joint_size() > 0) {
    place.fail("a chain cannot be combined with bodies and joints. Remove one or the other");
  }
  if (chain.links() < 1 || chain.links() > kLinksMax) {
    place.at("links").fail("links must be 1 to " + std::to_string(kLinksMax));
  }
  if (!(chain.length_m() > 0.0)) place.at("length_m").fail("length_m must be given and positive");
  if (!(chain.mass().value() > 0.0)) place.at("mass").fail("mass must be given and positive");
  for (int index = 0; index < chain.links(); ++index) {
    add_link(chain, index, rig);
    add_joint(chain, index, rig);
  }
}

}  // namespace service
