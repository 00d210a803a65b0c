#pragma once

#include <vector>

namespace estimator {

/// Contact state of a joint with dry friction or an end stop.
enum class Contact : signed char {
  kBackward = -1,  ///< slips, coordinate decreasing
  kStick = 0,      ///< sticks
  kForward = 1,    ///< slips, coordinate increasing
  kAtLower,        ///< rests at its lower stop
  kAtUpper,        ///< rests at its upper stop
};

/// Returns whether a joint with this contact state is at rest.
inline bool is_at_rest(Contact contact) {
  return contact != Contact::kBackward && contact != Contact::kForward;
}
inline bool is_at_end_stop(Contact contact) {
  return contact == Contact::kAtLower || contact == Contact::kAtUpper;
}
/// Returns the slip direction of a joint, −1 or 1; 0 if it rests. At rest, end stop and friction
/// act as one constraint force.
inline double slip_direction(Contact contact) {
  return is_at_rest(contact) ? 0.0 : static_cast<double>(contact);
}

/// Returns the contact state of a joint that slips, or is about to slip, in the given direction.
inline Contact contact_for_slip_direction(double direction) {
  return direction < 0.0 ? Contact::kBackward : Contact::kForward;
}

/// The contact states of all joints.
using Contacts = std::vector<Contact>;

}  // namespace estimator
