#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/stretched_poses.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/tree/coordinate_choice.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {

/// What is known of a motion in loops beside states to begin at.
struct LoopFacts {
  Eigen::MatrixXd read;            ///< joints, or more, × samples: as read, before any filter
  Eigen::VectorXd assembled = {};  ///< Segment::assembled; empty: `Hinge::assembled_at` holds
};

/// Gives joints of loops that no reading tells of their angles, and moves those that are told as
/// little as closes the loops; rates follow from differences. Without loops nothing changes.
///
/// A loop may be assembled in several ways. Where the readings at the start leave it open in which,
/// `Hinge::assembled_at` decides. Where links come to lie in one line later on, it is decided there
/// (go_through).
///
/// @param period  from column to column [s]
/// @param states  2·joints × samples: angles over rates; those of joints not told are ignored
/// @param where   what the states are of, for errors
/// @param facts   without them, states are as they were read
/// @return poses in which it was hardly told where joints are
/// @throws std::invalid_argument where a loop cannot be closed, or can be in several ways
std::vector<StretchedPose> close_loops(const Mechanism& mechanism, double period,
                                       const std::string& where, const LoopFacts& facts,
                                       Eigen::MatrixXd& states);
std::vector<StretchedPose> close_loops(const Mechanism& mechanism, double period,
                                       const std::string& where, Eigen::MatrixXd& states);

/// Where joints stand at rows of a segment, as followed from its start: Segment::assembled of what
/// begins there. Empty without loops, and where they do not close.
std::vector<Eigen::VectorXd> assemblies_at(const Mechanism& mechanism, const Segment& segment,
                                           const std::vector<Eigen::Index>& rows);

/// "joint 'R' leaves its loop open by 3.1 mm"
std::string gap_text(const LoopGap& gap);

/// The joints that describe the motion through all of some states best.
/// @throws ChangePoint, with a column of `states`, where one is passed whatever joints are taken
CoordinateChoice choose_coordinates(const Mechanism& mechanism,
                                    const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
