#pragma once

#include <vector>

namespace estimator {

/// What dry friction does at a joint.
enum class Contact : signed char {
  kBackward = -1,  ///< slips, coordinate falling
  kStick = 0,      ///< holds
  kForward = 1,    ///< slips, coordinate rising
};

/// The way in which a joint slips that moves, or is pulled, in a direction.
inline Contact contact_of(double direction) {
  return direction < 0.0 ? Contact::kBackward : Contact::kForward;
}

/// One contact a joint.
using Contacts = std::vector<Contact>;

}  // namespace estimator
