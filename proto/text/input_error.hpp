#pragma once

#include <stdexcept>
#include <string>

namespace proto {

/// Bad input from a user. The message contains the location, the problem and the remedy, e.g.
/// "rig.textproto:12:5: body 'A' is given twice; give each body its own name".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace proto
