#pragma once

namespace test_support {

/// Sampling of command plans that last three seconds.
inline constexpr double kPlanPeriod = 0.004;  // of the commands [s]
inline constexpr int kPlanSamples = 751;

}  // namespace test_support
