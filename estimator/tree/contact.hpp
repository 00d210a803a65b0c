#pragma once

#include <vector>

namespace estimator {

/// What dry friction, or an end stop, does at a joint.
enum class Contact : signed char {
  kBackward = -1,  ///< slips, coordinate falling
  kStick = 0,      ///< holds
  kForward = 1,    ///< slips, coordinate rising
  kAtLower,        ///< rests at its lower stop
  kAtUpper,        ///< rests at its upper stop
};

/// Whether the joint stands still.
inline bool is_held(Contact contact) {
  return contact != Contact::kBackward && contact != Contact::kForward;
}
inline bool is_at_stop(Contact contact) {
  return contact == Contact::kAtLower || contact == Contact::kAtUpper;
}
/// −1 or 1 as the joint slips, 0 where it stands still: what a stop and friction hold it with is
/// whatever it takes, so it counts once.
inline double slip_of(Contact contact) {
  return is_held(contact) ? 0.0 : static_cast<double>(contact);
}

/// The way in which a joint slips that moves, or is pulled, in a direction.
inline Contact contact_of(double direction) {
  return direction < 0.0 ? Contact::kBackward : Contact::kForward;
}

/// One contact a joint.
using Contacts = std::vector<Contact>;

}  // namespace estimator
