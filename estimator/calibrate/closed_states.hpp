#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/tree/coordinate_choice.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {

/// Gives joints of loops that no reading tells of their angles, and moves those that are told as
/// little as closes the loops; rates follow from differences. Without loops nothing changes.
///
/// A loop may be assembled in several ways. Where the readings at the start leave it open in which,
/// `Hinge::assembled_at` decides.
///
/// @param period  from column to column [s]
/// @param states  2·joints × samples: angles over rates; those of joints not told are ignored
/// @param where   what the states are of, for errors
/// @throws std::invalid_argument where a loop cannot be closed, or can be in several ways
void close_loops(const Mechanism& mechanism, double period, const std::string& where,
                 Eigen::MatrixXd& states);

/// "joint 'R' leaves its loop open by 3.1 mm"
std::string gap_text(const LoopGap& gap);

/// The joints that describe the motion through all of some states best.
/// @throws ChangePoint, with a column of `states`, where one is passed whatever joints are taken
CoordinateChoice choose_coordinates(const Mechanism& mechanism,
                                    const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
