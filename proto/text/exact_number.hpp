#pragma once

#include <string>

namespace proto {

/// The shortest text that reads as the same number again.
std::string exact_number(double value);

}  // namespace proto
