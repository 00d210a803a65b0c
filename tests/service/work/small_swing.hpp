#pragma once

#include <string>

#include "tests/service/run_rigcal.hpp"

namespace service {

/// Simulates a swing of the pendulum of configs/rig-pendulum.textproto, at 50 Hz with noise of
/// 1 mrad, and writes it as NAME.csv into the folder. Returns its path.
/// @param inertia  pendulum.J_zz [kg·m²]
inline std::string simulate_swing(const TemporaryFolder& folder, const std::string& name,
                                  const std::string& inertia, int seed, int duration_s = 4) {
  const std::string scenario = folder.write(name + ".textproto", R"(
name: "swing"
rate_hz: 50
initial { joint: "pivot" angle_rad: 2 }
release { joint: "pivot" held_angle_rad: 2 held_tolerance_rad: 0.6 }
noise { angle_standard_deviation_rad: 1e-3 seed: )" + std::to_string(seed) +
                                                                     " }\nduration_s: " +
                                                                     std::to_string(duration_s));
  run_successfully("simulate --rig " + config("rig-pendulum.textproto") + " --scenario " +
                   scenario + " --start pendulum.J_zz=" + inertia +
                   " --start pivot.b=3e-4 --step 1e-3 --out " + folder.file(name + ".csv"));
  return folder.file(name + ".csv");
}

}  // namespace service
