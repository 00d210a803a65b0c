#pragma once

#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

// Places the shooting nodes of mechanisms with end stops. Close to an impact, the simulation may
// end with the rates before the impact, while the node has the rates after the impact. The jump
// between these rates blocks a gradient-based fit.

namespace estimator {

/// Removes end stops that are far from all recorded positions of their joint. If wrong parameter
/// values lead a simulated motion to such a stop, the motion rests there and no longer depends on
/// the parameters.
/// @param states  joint coordinates above their rates, one matrix per segment
void remove_distant_stops(const std::vector<Eigen::MatrixXd>& states, Mechanism& mechanism);

/// Returns the time between shooting nodes [s]: `usual`, or a shorter time for mechanisms with end
/// stops. If few impacts are between two nodes, the fit can correct a wrong number of impacts.
double choose_node_interval(const Mechanism& mechanism, const std::vector<Segment>& segments,
                            double usual);

/// Returns the indices of the encoders of joints with an end stop.
std::vector<int> find_encoders_at_end_stops(const Mechanism& mechanism,
                                            const std::vector<Encoder>& sensors);

/// Returns the time near `about` at which the measured joint speeds change least [ticks].
/// @param readers  indices into `sensors`; if empty, `about` is returned
/// @param tick     duration of a tick [s]
/// @param about    desired time since the segment's first sample [ticks]
/// @param spacing  time between nodes [ticks]; the result differs from `about` by at most a fifth
/// of it
int find_impact_free_tick(const Segment& segment, const std::vector<Encoder>& sensors,
                          const std::vector<int>& readers, double tick, int about, int spacing);

/// Largest number of solves after `move_nodes_to_simulated_ends` has moved shooting nodes.
inline constexpr int kNodeRepairRounds = 4;

/// Repairs misplaced shooting nodes of mechanisms with end stops: moves a node to the simulated end
/// of the previous interval if this lowers the cost. A node on the wrong side of an impact would
/// remain there, because derivatives do not contain the jump of the rates.
/// @return whether any node was moved, so that another solve may improve the fit
bool move_nodes_to_simulated_ends(ShootingProblem& problem);

}  // namespace estimator
