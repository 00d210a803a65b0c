#pragma once

#include <vector>

namespace estimator {

struct Mechanism;

/// A share of one parameter in another.
struct TieTerm {
  int parameter;  ///< index into Mechanism::parameters
  double factor;  ///< [unit of the tied parameter / unit of this one]
};

/// A parameter that is no unknown of its own but follows from others,
///
///   value = constant + Σ factor · parameter,
///
/// such as the mass of one of two equal links, or a lever arm that is a length less a distance.
struct Tie {
  int parameter;  ///< index into Mechanism::parameters
  double constant = 0.0;
  std::vector<TieTerm> terms = {};  ///< of parameters that are not tied themselves
};

/// Has every tie follow from parameters that are not tied.
/// @return −1, or a parameter that would follow from itself
int resolve_ties(std::vector<Tie>& ties);

/// Gives tied parameters the values that follow.
void apply_ties(Mechanism& mechanism);

/// The tie of a parameter, or none.
const Tie* find_tie(const Mechanism& mechanism, int parameter);

/// The free parameters that a parameter is or follows from, and how much each moves it.
std::vector<TieTerm> free_sources(const Mechanism& mechanism, int parameter);

/// Whether an estimate moves the parameter: it is free, or follows from one that is.
bool varies(const Mechanism& mechanism, int parameter);

/// Whether the parameter stays at its value: it is neither free nor tied.
bool is_kept(const Mechanism& mechanism, int parameter);

}  // namespace estimator
