#pragma once

#include <limits>

namespace test_support {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace test_support
