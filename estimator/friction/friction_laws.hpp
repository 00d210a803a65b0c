#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "estimator/math/dual.hpp"

namespace estimator {

// Interface of a friction law, which is a struct with
//
//   kQuantities   array of the parameters of each joint (FrictionLawParameter)
//   kTerms        array of parameter groups that a comparison of laws frees together
//   kInSpook      whether the SPOOK stepper supports the law
//   LawParameterValues<T>
//                 parameter values in order, with one of these functions of a rate ω, for any T:
//
//     rate_factor(speed)     factor of the rate, given its magnitude
//     torque(rate)           torque that opposes the motion, continuous at rest; together with
//     slope_at_rest()            its derivative at rest, which is the largest
//     bound(rate)            bound of the dry friction torque, which jumps at rest
//     bound(force, moment)   the same if it grows with the bearing's load
//
// Torques are in N·m and rates in rad/s; for a prismatic joint they are forces and speeds. Rig
// files, parameters, units and equations of motion are derived from this interface.

/// Approximate magnitudes of a joint's friction and motion, from which fits get initial values.
struct FrictionScale {
  double torque = 0.0;   ///< friction torque or force [N·m or N]
  double speed = 0.0;    ///< root mean square rate [rad/s or m/s]
  double fastest = 0.0;  ///< largest rate [rad/s or m/s]
  double load = 0.0;     ///< force in the joint's bearing [N]
};

/// A parameter of a friction law, which has a value at every joint. The value is nonnegative unless
/// `may_be_negative` is set. If the texts for a prismatic joint are missing, the texts for a
/// revolute joint apply.
struct FrictionLawParameter {
  const char* field = nullptr;  ///< name in friction { } of a rig file, such as "viscous"
  const char* slide_field = nullptr;
  const char* symbol = nullptr;  ///< suffix of the parameter's name, after the joint's name
  const char* slide_symbol = nullptr;
  const char* unit = nullptr;
  const char* slide_unit = nullptr;
  double neutral = 0.0;  ///< default value
  /// Whether the friction law has an effect if this parameter alone is not zero.
  bool is_size = false;
  /// Whether negative values are allowed.
  bool may_be_negative = false;
  /// Returns the initial value of the parameter in a comparison of friction laws. With this value,
  /// the term produces the friction `torque`.
  double (*start)(double torque, const FrictionScale& scale) = nullptr;
  /// Returns the upper bound of the parameter in a comparison of friction laws; nullptr if there is
  /// none.
  double (*most)(const FrictionScale& scale) = nullptr;

  constexpr const char* rig_file_field(bool slides) const {
    return slides && slide_field != nullptr ? slide_field : field;
  }
  constexpr const char* parameter_suffix(bool slides) const {
    return slides && slide_symbol != nullptr ? slide_symbol : symbol;
  }
  constexpr const char* parameter_unit(bool slides) const {
    return slides && slide_unit != nullptr ? slide_unit : unit;
  }
};

/// A term of a friction law: parameters that a comparison of friction laws estimates together, and
/// the name of the term on the command line. The first parameter is the magnitude of the term. If
/// it is zero, the term vanishes.
struct FrictionLawTerm {
  std::string_view word;
  std::array<int, 8> quantities = {};
  int count = 0;

  constexpr FrictionLawTerm() = default;
  constexpr FrictionLawTerm(std::string_view its_word, std::initializer_list<int> its_quantities)
      : word(its_word) {
    for (const int each : its_quantities) quantities[count++] = each;
  }
};

// Initial values that several laws use.

inline double initial_torque(double torque, const FrictionScale&) { return torque; }

inline constexpr double kExcessShare = 0.1;  // initial fraction of the kinetic torque
inline double initial_excess_torque(double torque, const FrictionScale&) {
  return kExcessShare * torque;
}

inline constexpr double kDecayShare = 0.1;  // fraction of the top speed over which an excess decays

inline constexpr double kRiseShare = 0.2;  // of the mean speed, over which smooth friction rises
inline double initial_friction_rise(double, const FrictionScale& scale) {
  return 1.0 / (kRiseShare * scale.speed);
}

inline constexpr double kSteepestShare = 0.01;  // the same for the steepest rise, nearly a jump
inline double largest_friction_rise(const FrictionScale& scale) {
  return 1.0 / (kSteepestShare * scale.speed);
}

/// Returns b + c |ω|, the factor by which viscous friction b and quadratic drag c multiply the rate
/// ω.
template <typename T>
T viscous_drag_factor(const T& viscous, const T& quadratic_drag, const T& speed) {
  return viscous + quadratic_drag * speed;
}

/// Friction law: viscous friction and quadratic drag, (b + c |ω|) ω.
struct ViscousDrag {
  enum Quantity { kViscous, kQuadraticDrag };
  static constexpr FrictionLawParameter kQuantities[] = {
      {.field = "viscous",
       .symbol = "b",
       .unit = "N·m·s/rad",
       .slide_unit = "N·s/m",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) { return torque / scale.speed; }},
      {.field = "quadratic_drag",
       .symbol = "c",
       .unit = "N·m·s²/rad²",
       .slide_unit = "N·s²/m²",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) {
         return torque / (scale.speed * scale.speed);
       }}};
  static constexpr FrictionLawTerm kTerms[] = {{"viscous", {kViscous}}, {"drag", {kQuadraticDrag}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct LawParameterValues {
    T viscous, quadratic_drag;

    T rate_factor(const T& speed) const {
      return viscous_drag_factor(viscous, quadratic_drag, speed);
    }
  };
};

/// Speed below which air drag is linear instead of quadratic, which avoids a kink at rest [m/s].
inline constexpr double kRegularizationSpeed = 1e-6;

/// Returns the drag force c |v| v of still air on a body with velocity v and drag coefficient c
/// [N].
template <typename T>
Eigen::Matrix<T, 3, 1> air_drag_force(const T& coefficient,
                                      const Eigen::Matrix<T, 3, 1>& velocity) {
  using std::sqrt;
  const T speed = sqrt(T(velocity.dot(velocity) + kRegularizationSpeed * kRegularizationSpeed));
  return (coefficient * speed) * velocity;
}

/// Returns the fraction exp(−ζ ω²) of the Stribeck excess that remains at the joint rate ω.
template <typename T>
T stribeck_decay(const T& stribeck_rate, const T& omega) {
  using std::exp;
  const T exponent = -stribeck_rate * omega * omega;
  return exp(exponent);
}

/// Returns the dry friction without load dependence, τ_c + τ_δ exp(−ζ ω²), at the joint rate ω
/// [Mar, eq. 4.1 as a torque].
template <typename T>
T dry_friction_torque(const T& coulomb, const T& stribeck, const T& stribeck_rate, const T& omega) {
  return coulomb + stribeck * stribeck_decay(stribeck_rate, omega);
}

/// Friction law: Coulomb friction plus an excess at rest (Stribeck), of either sign, that decays
/// with speed. By default, the excess in a prismatic joint decays over 1 m/s.
struct CoulombStribeck {
  enum Quantity { kCoulombTorque, kStribeckTorque, kStribeckRate };
  static constexpr FrictionLawParameter kQuantities[] = {
      {.field = "coulomb_torque",
       .slide_field = "coulomb_force",
       .symbol = "tau_c",
       .slide_symbol = "f_c",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .start = initial_torque},
      {.field = "stribeck_torque",
       .slide_field = "stribeck_force",
       .symbol = "tau_delta",
       .slide_symbol = "f_delta",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .may_be_negative = true,
       .start = initial_excess_torque},
      {.field = "stribeck_rate",
       .symbol = "zeta",
       .unit = "s²/rad²",
       .slide_unit = "s²/m²",
       .neutral = 1.0,
       .start = [](double, const FrictionScale& scale) {
         return std::pow(kDecayShare * scale.fastest, -2);
       }}};
  static constexpr FrictionLawTerm kTerms[] = {
      {"dry", {kCoulombTorque}}, {"stribeck", {kCoulombTorque, kStribeckTorque, kStribeckRate}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct LawParameterValues {
    T coulomb, stribeck, stribeck_rate;

    T bound(const T& rate) const {
      return dry_friction_torque(coulomb, stribeck, stribeck_rate, rate);
    }
  };
};

/// Friction law: dry friction proportional to the bearing load, rμ F + μ M, with the force F and
/// moment M in the bearing.
struct LoadFriction {
  enum Quantity { kLoadFriction, kLoadFrictionAngular };
  static constexpr FrictionLawParameter kQuantities[] = {
      {.field = "load",
       .symbol = "r_mu",
       .slide_symbol = "mu",
       .unit = "m",
       .slide_unit = "-",
       .is_size = true,
       .start = [](double torque, const FrictionScale& scale) { return torque / scale.load; }},
      {.field = "load_angular",
       .symbol = "mu",
       .slide_symbol = "mu_moment",
       .unit = "-",
       .slide_unit = "1/m",
       .is_size = true}};
  static constexpr FrictionLawTerm kTerms[] = {{"load", {kLoadFriction}}};
  static constexpr bool kInSpook = true;

  template <typename T>
  struct LawParameterValues {
    T per_force, per_moment;

    T bound(const T& force, const T& moment) const {
      return per_force * force + per_moment * moment;
    }
  };
};

/// Friction law that is continuous at rest [Mak05; MTM, eq. 55]. The parameter `rise` is γ₂ − γ₃,
/// so that friction with nonnegative parameters always opposes the motion. The papers use γ₂ = rise
/// + decay, with which friction does not oppose the motion if γ₂ < γ₃.
struct Makkar {
  enum Quantity { kExcess, kRise, kDecay, kCoulomb, kSlope };
  static constexpr FrictionLawParameter kQuantities[] = {
      {.field = "makkar.excess",
       .symbol = "gamma_1",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .start = initial_excess_torque},
      {.field = "makkar.rise",
       .symbol = "gamma_2",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = initial_friction_rise,
       .most = largest_friction_rise},
      {.field = "makkar.decay",
       .symbol = "gamma_3",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = [](double,
                   const FrictionScale& scale) { return 1.0 / (kDecayShare * scale.fastest); }},
      {.field = "makkar.coulomb",
       .symbol = "gamma_4",
       .unit = "N·m",
       .slide_unit = "N",
       .is_size = true,
       .start = initial_torque},
      {.field = "makkar.slope",
       .symbol = "gamma_5",
       .unit = "s/rad",
       .slide_unit = "s/m",
       .start = initial_friction_rise,
       .most = largest_friction_rise}};
  static constexpr FrictionLawTerm kTerms[] = {
      {"smooth", {kCoulomb, kSlope}}, {"makkar", {kCoulomb, kSlope, kExcess, kRise, kDecay}}};
  static constexpr bool kInSpook = false;

  template <typename T>
  struct LawParameterValues {
    T excess;   // γ₁: static minus kinetic friction [N·m]
    T rise;     // γ₂ − γ₃ [s/rad]
    T decay;    // γ₃ [s/rad]
    T coulomb;  // γ₄ [N·m]
    T slope;    // γ₅ [s/rad]

    /// Returns the friction torque γ₁ (tanh γ₂ω − tanh γ₃ω) + γ₄ tanh γ₅ω at the joint rate ω.
    T torque(const T& rate) const {
      const T rising = (rise + decay) * rate, falling = decay * rate, steep = slope * rate;
      const T gone = generic_tanh(rising) - generic_tanh(falling);
      return excess * gone + coulomb * generic_tanh(steep);
    }

    T slope_at_rest() const { return excess * rise + coulomb * slope; }
  };
};

template <typename Law>
concept MultipliesRate = requires(const typename Law::template LawParameterValues<double>& law) {
  law.rate_factor(0.0);
};
template <typename Law>
concept IsContinuous = requires(const typename Law::template LawParameterValues<double>& law) {
  law.torque(0.0);
  law.slope_at_rest();
};
template <typename Law>
concept JumpsAtRest = requires(const typename Law::template LawParameterValues<double>& law) {
  law.bound(0.0);
};
template <typename Law>
concept DependsOnLoad = requires(const typename Law::template LawParameterValues<double>& law) {
  law.bound(0.0, 0.0);
};

/// A parameter of a friction law, with properties that follow from its law.
struct FrictionParameter : FrictionLawParameter {
  int law = 0;             ///< index of the law
  bool is_dry = false;     ///< whether its law's torque jumps at rest
  bool is_loaded = false;  ///< whether its law depends on the bearing load
  bool is_steep = false;   ///< whether its law is steep, but continuous, at rest
};

/// A list of friction laws. Its parameters and terms are the parameters and terms of all laws, in
/// the order of the laws.
template <typename... Laws>
struct FrictionLawList {
  static constexpr int kCount = static_cast<int>(sizeof...(Laws));
  static constexpr int kQuantityCount = (static_cast<int>(std::size(Laws::kQuantities)) + ...);
  static constexpr int kTermCount = (static_cast<int>(std::size(Laws::kTerms)) + ...);

  template <typename T>
  using LawParameterValues = std::tuple<typename Laws::template LawParameterValues<T>...>;

  /// Returns the index of a law's first parameter in the list of all parameters.
  template <typename Law>
  static constexpr int first_parameter_index() {
    int first = 0;
    bool reached = false;
    ((reached |= std::is_same_v<Law, Laws>,
      first += reached ? 0 : static_cast<int>(std::size(Laws::kQuantities))),
     ...);
    return first;
  }

  /// Calls visit.operator()<Law>(index of the law) for each friction law.
  template <typename Visit>
  static constexpr void each(Visit visit) {
    int law = 0;
    (visit.template operator()<Laws>(law++), ...);
  }

  /// @param value  returns a parameter's value by its index
  template <typename T, typename Value>
  static LawParameterValues<T> make(const Value& value) {
    return LawParameterValues<T>{make_law_values<Laws, T>(
        value,
        std::make_integer_sequence<int, static_cast<int>(std::size(Laws::kQuantities))>())...};
  }

  static constexpr std::array<FrictionParameter, kQuantityCount> all_parameters() {
    std::array<FrictionParameter, kQuantityCount> all;
    std::size_t place = 0;
    each([&]<typename Law>(int law) {
      static_assert(MultipliesRate<Law> || IsContinuous<Law> || JumpsAtRest<Law> ||
                    DependsOnLoad<Law>);
      for (const FrictionLawParameter& quantity : Law::kQuantities) {
        all[place++] = {quantity, law, JumpsAtRest<Law> || DependsOnLoad<Law>, DependsOnLoad<Law>,
                        IsContinuous<Law>};
      }
    });
    return all;
  }

  /// Returns the terms of all friction laws, with indices into the list of all parameters.
  static constexpr std::array<FrictionLawTerm, kTermCount> terms() {
    std::array<FrictionLawTerm, kTermCount> all;
    std::size_t place = 0;
    each([&]<typename Law>(int) {
      for (FrictionLawTerm term : Law::kTerms) {
        for (int& quantity : term.quantities) quantity += first_parameter_index<Law>();
        all[place++] = term;
      }
    });
    return all;
  }

 private:
  template <typename Law, typename T, typename Value, int... k>
  static typename Law::template LawParameterValues<T> make_law_values(
      const Value& value, std::integer_sequence<int, k...>) {
    return {value(first_parameter_index<Law>() + k)...};
  }
};

/// The friction laws of every joint. To add a law, define it above, add it here, and add its fields
/// to the schema of rig files.
using FrictionLaws = FrictionLawList<ViscousDrag, CoulombStribeck, LoadFriction, Makkar>;

inline constexpr auto kFrictionParameters = FrictionLaws::all_parameters();
inline constexpr auto kFrictionTerms = FrictionLaws::terms();

/// Returns the index of a law's parameter in the list of all friction parameters.
template <typename Law>
constexpr int friction_parameter_index(typename Law::Quantity quantity) {
  return FrictionLaws::first_parameter_index<Law>() + quantity;
}

}  // namespace estimator
