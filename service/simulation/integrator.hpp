#pragma once

namespace service {

/// What moves a mechanism in a simulation.
enum class Integrator {
  kAutomatic,  ///< SPOOK where it knows all joints, else the equations of motion
  kSpook,      ///< the time-discrete stepper: hinges alone, first order
  kPhysical    ///< equations of motion in joint coordinates: any joint, fourth order
};

}  // namespace service
