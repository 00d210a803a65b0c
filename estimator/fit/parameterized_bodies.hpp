#pragma once

#include <string>
#include <vector>

#include "estimator/model/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Whether a body's inertia is estimated as a whole, in an InertiaParameterization. Its three
/// moments must be free, and its products all free, or zero with at most one free. They may have no
/// bounds and no dependencies beyond physical ones. Otherwise moments are estimated one by one.
bool has_inertia_parameterization(const Mechanism& mechanism, int body);

/// Returns, for every body whose free moments are estimated one by one, a sentence with the reason.
std::vector<std::string> describe_unparameterized_inertias(const Mechanism& mechanism);

/// Whether a body (`has_inertia_parameterization`) is at the feasibility boundary: it is
/// practically flat.
bool is_at_feasibility_boundary(const Mechanism& mechanism, int body);
/// The same from the smallest and largest principal second moments.
bool is_at_feasibility_boundary(double least, double largest);

/// Moves flat initial inertias off the boundary, where products of inertia have hardly any effect.
void move_off_feasibility_boundary(Mechanism& mechanism);

}  // namespace estimator
