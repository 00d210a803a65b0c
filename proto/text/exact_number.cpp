#include "proto/text/exact_number.hpp"

#include <charconv>

namespace proto {

std::string exact_number(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

}  // namespace proto
