#pragma once

#include <stdexcept>
#include <string>

namespace proto {

/// Bad input from a person. The message says where, what, and what to do, for example
/// "rig.textproto:12:5: body 'A' is given twice; give each body its own name".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace proto
