#pragma once

#include <vector>

#include "estimator/messages/message.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns whether a body's inertia is estimated as a whole, in an InertiaParameterization. Its
/// three moments of inertia must be free. Its products must be all free, or zero with at most one
/// free. They must have only physical bounds and dependencies. Otherwise moments are estimated
/// individually.
bool has_inertia_parameterization(const Mechanism& mechanism, int body);

/// Returns a note for each body whose free moments are estimated individually, with the reason.
std::vector<Message> describe_unparameterized_inertias(const Mechanism& mechanism);

/// Returns whether a body with `has_inertia_parameterization` is practically flat, and thus at the
/// boundary of physically consistent inertias.
bool is_at_feasibility_boundary(const Mechanism& mechanism, int body);
/// Checks the smallest and largest principal second moments of a body for that boundary.
bool is_at_feasibility_boundary(double least, double largest);

/// Makes practically flat bodies slightly thicker in their initial inertias. At the boundary of
/// physically consistent inertias, products of inertia have hardly any effect.
void move_off_feasibility_boundary(Mechanism& mechanism);

}  // namespace estimator
