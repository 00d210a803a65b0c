#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "estimator/friction/coulomb_stribeck.hpp"
#include "estimator/friction/drag_law.hpp"
#include "estimator/friction/friction_law.hpp"
#include "estimator/friction/load_law.hpp"
#include "estimator/friction/makkar.hpp"

namespace estimator {

template <typename Law>
concept MultipliesRate = requires(const typename Law::template On<double>& law) {
  law.factor(0.0);
};
template <typename Law>
concept IsContinuous = requires(const typename Law::template On<double>& law) {
  law.torque(0.0);
  law.steepness();
};
template <typename Law>
concept JumpsAtRest = requires(const typename Law::template On<double>& law) {
  law.bound(0.0);
};
template <typename Law>
concept DependsOnLoad = requires(const typename Law::template On<double>& law) {
  law.bound(0.0, 0.0);
};

/// A parameter of a friction law, with properties that follow from its law.
struct FrictionQuantity : LawQuantity {
  int law = 0;             ///< index of the law
  bool is_dry = false;     ///< whether its law's torque jumps at rest
  bool is_loaded = false;  ///< whether its law depends on the bearing load
  bool is_steep = false;   ///< whether its law is steep, but continuous, at rest
};

/// A list of friction laws with the concatenated parameters and terms of all laws.
template <typename... Laws>
struct LawList {
  static constexpr int kCount = static_cast<int>(sizeof...(Laws));
  static constexpr int kQuantityCount = (static_cast<int>(std::size(Laws::kQuantities)) + ...);
  static constexpr int kTermCount = (static_cast<int>(std::size(Laws::kTerms)) + ...);

  template <typename T>
  using On = std::tuple<typename Laws::template On<T>...>;

  /// Returns the index of a law's first parameter in the list of all parameters.
  template <typename Law>
  static constexpr int first_quantity() {
    int first = 0;
    bool reached = false;
    ((reached |= std::is_same_v<Law, Laws>,
      first += reached ? 0 : static_cast<int>(std::size(Laws::kQuantities))),
     ...);
    return first;
  }

  /// Calls visit.operator()<Law>(index of the law) for each law.
  template <typename Visit>
  static constexpr void each(Visit visit) {
    int law = 0;
    (visit.template operator()<Laws>(law++), ...);
  }

  /// @param value  returns a parameter's value by its index
  template <typename T, typename Value>
  static On<T> make(const Value& value) {
    return On<T>{make_one<Laws, T>(
        value,
        std::make_integer_sequence<int, static_cast<int>(std::size(Laws::kQuantities))>())...};
  }

  static constexpr std::array<FrictionQuantity, kQuantityCount> quantities() {
    std::array<FrictionQuantity, kQuantityCount> all;
    std::size_t place = 0;
    each([&]<typename Law>(int law) {
      static_assert(MultipliesRate<Law> || IsContinuous<Law> || JumpsAtRest<Law> ||
                    DependsOnLoad<Law>);
      for (const LawQuantity& quantity : Law::kQuantities) {
        all[place++] = {quantity, law, JumpsAtRest<Law> || DependsOnLoad<Law>, DependsOnLoad<Law>,
                        IsContinuous<Law>};
      }
    });
    return all;
  }

  /// Returns the terms of all laws, with indices into the list of all parameters.
  static constexpr std::array<LawTerm, kTermCount> terms() {
    std::array<LawTerm, kTermCount> all;
    std::size_t place = 0;
    each([&]<typename Law>(int) {
      for (LawTerm term : Law::kTerms) {
        for (int& quantity : term.quantities) quantity += first_quantity<Law>();
        all[place++] = term;
      }
    });
    return all;
  }

 private:
  template <typename Law, typename T, typename Value, int... k>
  static typename Law::template On<T> make_one(const Value& value,
                                               std::integer_sequence<int, k...>) {
    return {value(first_quantity<Law>() + k)...};
  }
};

/// To add a law: define it in a file of its own, add it here, and add its fields to the schema.
using FrictionLaws = LawList<ViscousDrag, CoulombStribeck, LoadFriction, Makkar>;

inline constexpr auto kFrictionQuantities = FrictionLaws::quantities();
inline constexpr auto kFrictionTerms = FrictionLaws::terms();

/// Returns the index of a law's parameter in the list of all friction parameters.
template <typename Law>
constexpr int friction_index(typename Law::Quantity quantity) {
  return FrictionLaws::first_quantity<Law>() + quantity;
}

}  // namespace estimator
