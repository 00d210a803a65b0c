#pragma once

namespace service {

/// Integration method of a simulation.
enum class Integrator {
  kAutomatic,  ///< kSpook if it supports all joints, otherwise kPhysical
  kSpook,      ///< SPOOK time stepper: some joint types only, first order
  kPhysical    ///< equations of motion in joint coordinates: all joints, 4th order
};

}  // namespace service
