#pragma once

#include <vector>

namespace estimator {

struct Mechanism;

/// One term of a tie: a parameter and its factor.
struct TieTerm {
  int parameter;  ///< index into Mechanism::parameters
  double factor;  ///< [unit of the tied parameter / unit of this one]
};

/// A dependent parameter, an affine function of others,
///
///   value = constant + Σ factor · parameter,
///
/// such as the mass of one of two equal links, or a lever arm that is a length minus a distance.
struct Tie {
  int parameter;  ///< index into Mechanism::parameters
  double constant = 0.0;
  std::vector<TieTerm> terms = {};  ///< of independent parameters
};

/// Expresses every tie by independent parameters.
/// @return −1, or a parameter that depends on itself
int resolve_ties(std::vector<Tie>& ties);

/// Sets dependent parameters to the values of their ties.
void apply_ties(Mechanism& mechanism);

/// The tie of a parameter; nullptr if it is independent.
const Tie* find_tie(const Mechanism& mechanism, int parameter);

/// Free parameters on which a parameter depends (itself if free), with its derivative by each.
std::vector<TieTerm> free_sources(const Mechanism& mechanism, int parameter);

/// Whether estimation changes the parameter: it is free, or depends on one that is.
bool varies(const Mechanism& mechanism, int parameter);

/// Whether the parameter keeps its value: it is neither free nor dependent.
bool is_kept(const Mechanism& mechanism, int parameter);

}  // namespace estimator
