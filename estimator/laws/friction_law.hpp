#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace estimator {

// What a friction law states. A law is a struct with
//
//   kQuantities   the numbers it has at every joint (LawQuantity), named by an enum of their places
//   kTerms        what of it a comparison of laws frees together (LawTerm)
//   kWhat         what it is, for people: "friction without a jump"
//   kInSpook      whether SPOOK steps know it; the others act at joints alone that have one
//   On<T>         its quantities in their order, and one of these of a rate ω, for scalars of any
//   kind:
//     factor(speed)          by what the rate is to be multiplied, from its magnitude
//     torque(rate)           what opposes the motion, without a jump at rest; with it
//     steepness()            its derivative at rest, the largest
//     bound(rate)            the most that dry friction holds or opposes: it jumps at rest
//     bound(force, moment)   the same where it grows with the load of the bearing
//
// Torques are in N·m and rates in rad/s; of a joint that slides they are forces and speeds. What
// else needs to be known of a law follows from that: rig files, parameters, units, the equations of
// motion.

/// How large the friction of a joint is about, to begin fits of any rig with.
struct FrictionScale {
  double torque = 0.0;   ///< [N·m or N]
  double speed = 0.0;    ///< root mean square [rad/s or m/s]
  double fastest = 0.0;  ///< [rad/s or m/s]
  double load = 0.0;     ///< force in the bearing [N]
};

/// A number that a friction law has at every joint, never below zero unless it is said. Texts of a
/// joint that slides are those of a hinge where they are left out.
struct LawQuantity {
  const char* field = nullptr;  ///< in friction { } of a rig file; with its message: "smooth.rise"
  const char* slide_field = nullptr;
  const char* symbol = nullptr;  ///< of the parameter, behind the joint's name
  const char* slide_symbol = nullptr;
  const char* unit = nullptr;
  const char* slide_unit = nullptr;
  double neutral = 0.0;  ///< where nothing is said of it
  /// Whether something of the law acts where it alone is not zero.
  bool is_size = false;
  /// Whether it may be said to lie below zero.
  bool may_be_negative = false;
  /// What descriptions of robots have no place for; none where they have one.
  const char* not_of_robots = nullptr;
  /// Where it begins in a comparison of laws, when its term is to make up `torque`.
  double (*start)(double torque, const FrictionScale& scale) = nullptr;
  /// Its upper bound there; none: infinite.
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

/// What of a law is free together in a comparison, by its word on the command line. The first
/// quantity is its size: at zero nothing is left of the term.
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

// Starts that laws share.

inline double start_whole(double torque, const FrictionScale&) { return torque; }

inline constexpr double kExcessShare = 0.1;  // of the kinetic torque, to begin with
inline double start_excess(double torque, const FrictionScale&) { return kExcessShare * torque; }

inline constexpr double kDecayShare = 0.1;  // of the fastest speed, over which an excess decays

inline constexpr double kRiseShare = 0.2;  // of the mean speed, over which smooth friction rises
inline double start_rise(double, const FrictionScale& scale) {
  return 1.0 / (kRiseShare * scale.speed);
}

inline constexpr double kSteepestShare = 0.01;  // of it: a steeper rise is as good as a jump
inline double steepest_rise(const FrictionScale& scale) {
  return 1.0 / (kSteepestShare * scale.speed);
}

}  // namespace estimator
