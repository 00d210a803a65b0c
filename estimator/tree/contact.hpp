#pragma once

#include <vector>

namespace estimator {

/// What dry friction does at a joint.
enum class Contact : signed char {
  kBackward = -1,  ///< slips, coordinate falling
  kStick = 0,      ///< holds
  kForward = 1,    ///< slips, coordinate rising
};

/// One contact a joint.
using Contacts = std::vector<Contact>;

}  // namespace estimator
