#pragma once

namespace test_support {

/// Plans of three seconds.
inline constexpr double kPlanPeriod = 0.004;  // of the commands [s]
inline constexpr int kPlanSamples = 751;

}  // namespace test_support
