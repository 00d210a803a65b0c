#pragma once

#include <string>
#include <vector>

#include "estimator/model/inertia_chart.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Whether a body's inertia is free as a whole, so that it is estimated in a chart: its three
/// moments are free, its products are all free or else zero with at most one of them free, and
/// nothing bounds or ties them but physics. Single moments are estimated as they are.
bool is_charted(const Mechanism& mechanism, int body);

/// For every body whose three moments are free and that is not charted, a sentence that says why.
std::vector<std::string> tell_uncharted(const Mechanism& mechanism);

/// Whether a charted body lies where the chart goes no farther: it is as good as flat.
bool is_at_border(const Mechanism& mechanism, int body);
/// The same of principal second moments.
bool is_at_border(double least, double largest);

/// Starts that are flat are moved off the border, from where products of inertia hardly act.
void move_off_borders(Mechanism& mechanism);

}  // namespace estimator
