#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace estimator {

// Interface of a friction law, which is a struct with
//
//   kQuantities   its parameters at every joint (LawQuantity), indexed by an enum
//   kTerms        groups of its parameters that a comparison of laws frees together (LawTerm)
//   kInSpook      whether the SPOOK stepper supports it
//   On<T>         its parameter values in order, with one of these functions of a rate ω, for any
//   T:
//     factor(speed)          factor of the rate, given its magnitude
//     torque(rate)           torque that opposes the motion, continuous at rest; together with
//     steepness()            its derivative at rest, which is the largest
//     bound(rate)            bound of the dry friction torque, which jumps at rest
//     bound(force, moment)   the same if it grows with the bearing's load
//
// Torques are in N·m and rates in rad/s; for a prismatic joint they are forces and speeds. Rig
// files, parameters, units and equations of motion are derived from this interface.

/// Approximate magnitudes of a joint's friction and motion, for initial values of fits.
struct FrictionScale {
  double torque = 0.0;   ///< friction torque or force [N·m or N]
  double speed = 0.0;    ///< root mean square rate [rad/s or m/s]
  double fastest = 0.0;  ///< largest rate [rad/s or m/s]
  double load = 0.0;     ///< force in the joint's bearing [N]
};

/// A parameter that a friction law has at every joint. It is nonnegative unless may_be_negative. If
/// no texts for a prismatic joint are given, those of a revolute joint apply.
struct LawQuantity {
  const char* field = nullptr;  ///< in friction { } of a rig file: "viscous", "makkar.rise"
  const char* slide_field = nullptr;
  const char* symbol = nullptr;  ///< suffix of the parameter, after the joint's name
  const char* slide_symbol = nullptr;
  const char* unit = nullptr;
  const char* slide_unit = nullptr;
  double neutral = 0.0;  ///< default value
  /// Whether a nonzero value of this parameter alone makes the law act.
  bool is_size = false;
  /// Whether negative values are allowed.
  bool may_be_negative = false;
  /// Returns the initial value for a comparison of laws, if the term is to produce `torque`.
  double (*start)(double torque, const FrictionScale& scale) = nullptr;
  /// Returns the upper bound in a comparison of laws; nullptr if there is none.
  double (*most)(const FrictionScale& scale) = nullptr;

  constexpr const char* field_of(bool slides) const {
    return slides && slide_field != nullptr ? slide_field : field;
  }
  constexpr const char* symbol_of(bool slides) const {
    return slides && slide_symbol != nullptr ? slide_symbol : symbol;
  }
  constexpr const char* unit_of(bool slides) const {
    return slides && slide_unit != nullptr ? slide_unit : unit;
  }
};

/// Parameters that a comparison of friction laws frees together, with their name on the command
/// line. The first one is the term's magnitude: if it is zero, the term vanishes.
struct LawTerm {
  std::string_view word;
  std::array<int, 8> quantities = {};
  int count = 0;

  constexpr LawTerm() = default;
  constexpr LawTerm(std::string_view its_word, std::initializer_list<int> its_quantities)
      : word(its_word) {
    for (const int each : its_quantities) quantities[static_cast<std::size_t>(count++)] = each;
  }
};

// Initial values that several laws use.

inline double start_whole(double torque, const FrictionScale&) { return torque; }

inline constexpr double kExcessShare = 0.1;  // initial fraction of the kinetic torque
inline double start_excess(double torque, const FrictionScale&) { return kExcessShare * torque; }

inline constexpr double kDecayShare = 0.1;  // of the fastest speed, over which an excess decays

inline constexpr double kRiseShare = 0.2;  // of the mean speed, over which smooth friction rises
inline double start_rise(double, const FrictionScale& scale) {
  return 1.0 / (kRiseShare * scale.speed);
}

inline constexpr double kSteepestShare = 0.01;  // the same for the steepest rise, nearly a jump
inline double steepest_rise(const FrictionScale& scale) {
  return 1.0 / (kSteepestShare * scale.speed);
}

}  // namespace estimator
