#pragma once

#include <stdexcept>
#include <string>

namespace proto {

/// Exception for invalid input from a user. The message contains the location, the problem and the
/// remedy, e.g. "rig.textproto:12:5: body 'A' is given twice; give each body its own name".
/// Functions that read files, options or texts of the user throw it for invalid input.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace proto
