#pragma once

#include <vector>

#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

// Node placement for mechanisms with end stops. If an impact is close to a node, the simulation may
// end with the rates before the impact while the node has those after it. The jump between them
// blocks a gradient-based fit.

namespace estimator {

/// Node interval: `usual`, or for joints with end stops so short that few impacts lie between two
/// nodes, which lets the fit correct a wrong number of impacts [s].
double node_interval(const Mechanism& mechanism, const std::vector<Segment>& segments,
                     double usual);

/// Sensors that read a joint with an end stop.
std::vector<int> sensors_of_stops(const Mechanism& mechanism, const std::vector<Encoder>& sensors);

/// The tick near `about` at which the speeds of the sensors change least.
///
/// @param readers  indices of `sensors`, the columns of the segment; none: returns `about`
/// @param tick     [s]
/// @param about    ticks from the segment's first sample on
/// @param spacing  ticks between nodes; the result moves by at most a fifth of it
int find_impact_free_tick(const Segment& segment, const std::vector<Encoder>& sensors,
                          const std::vector<int>& readers, double tick, int about, int spacing);

}  // namespace estimator
