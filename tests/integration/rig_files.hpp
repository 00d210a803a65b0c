#pragma once

namespace test_support {

/// A simulated Furuta unit for rigcal-sim, and its rig file. The limits are wide on purpose.
inline constexpr const char* kSimulationFile = R"(furuta {
  arm_mass_kg: 0.238 arm_center_distance_m: 0.128 arm_length_m: 0.376 arm_inertia_zz: 0.0044
  shaft_inertia: 0.0004 pendulum_mass_kg: 0.428 pendulum_center_distance_m: 0.092
  pendulum_inertia_xx: 0.0001 pendulum_inertia_yy: 0.00396 pendulum_inertia_zz: 0.0039
  motor { gain: 0.0729 } arm_friction { viscous: 0.01 } pendulum_friction { viscous: 0.0001 }
}
unit { ttl_max_ms: 255 }
line { baud: 921600 }
)";

inline constexpr const char* kRigFile = R"(name: "rig"
joint { name: "arm" motor { control_unit: "V" } encoder { counts_per_turn: 4096 } }
joint { name: "rod" encoder { counts_per_turn: 4096 } }
unit { channel { joint: "arm" } channel { joint: "rod" } ttl_ms: 250 }
safety {
  command_max: 5
  staleness_ms_max: 2000
  joint { joint: "arm" angle_rad_min: -900 angle_rad_max: 900 speed_rad_per_s_max: 100 }
  joint { joint: "rod" angle_rad_min: -900 angle_rad_max: 900 speed_rad_per_s_max: 100 }
}
)";

}  // namespace test_support
