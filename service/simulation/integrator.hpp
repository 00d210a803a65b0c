#pragma once

namespace service {

/// Integration method of a simulation.
enum class Integrator {
  kAutomatic,  ///< SPOOK if it supports all joints, else the equations of motion
  kSpook,      ///< time-discrete stepper: joints only, first order
  kPhysical    ///< equations of motion in joint coordinates: any joint, fourth order
};

}  // namespace service
