#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/signal/time_series.hpp"

// Where nodes of a shooting problem stand whose joints strike end stops. With an impact beside a
// node, the motion before it may end with the rates before the impact while the node has those
// after: then neither can move to the other, since rates jump in between, and a fit goes no
// further.

namespace estimator {

/// From node to node: as usual, or so short for joints with end stops that few impacts lie between
/// two of them, and a start that has one too many or too few can be left [s].
double node_interval(const Mechanism& mechanism, const std::vector<Segment>& segments,
                     double usual);

/// Sensors that read a joint which has an end stop.
std::vector<int> sensors_of_stops(const Mechanism& mechanism, const std::vector<Sensor>& sensors);

/// The tick near another at which what the sensors read changes its speed least.
///
/// @param readers  of `sensors`, the columns of the segment; none: the tick stays
/// @param tick     [s]
/// @param about    ticks from the segment's first sample on
/// @param spacing  ticks from node to node: it moves by a fifth of that at most
int quiet_tick(const Segment& segment, const std::vector<Sensor>& sensors,
               const std::vector<int>& readers, double tick, int about, int spacing);

}  // namespace estimator
