#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/singular_configurations.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/coordinate_choice.hpp"
#include "estimator/simulation/loop_closure.hpp"

namespace estimator {

/// Additional data for closing loops along a motion.
struct LoopClosureData {
  Eigen::MatrixXd read;            ///< joints, or more, × samples: unfiltered readings
  Eigen::VectorXd assembled = {};  ///< Segment::assembled; empty: use `Joint::assembly_guess`
};

/// Computes the angles of unobserved joints in loops and corrects observed ones by the least change
/// that closes the loops. Rates follow from differences. Without loops nothing changes.
///
/// A loop may have several assembly modes. If the initial readings do not determine one,
/// `Joint::assembly_guess` selects it. In singular configurations select_branch selects the branch.
///
/// @param period  from column to column [s]
/// @param states  2·joints × samples: angles over rates; those of unobserved joints are ignored
/// @param where   origin of the states, for error messages
/// @param facts   if omitted, `states` themselves are the readings
/// @return singular configurations, in which the joints are hardly determined
/// @throws std::invalid_argument if a loop cannot be closed, or its assembly mode is ambiguous
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where,
                                               const LoopClosureData& facts,
                                               Eigen::MatrixXd& states);
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where, Eigen::MatrixXd& states);

/// Joint coordinates at rows of a segment, propagated from its start: Segment::assembled for
/// segments that begin there. Empty without loops, or if they do not close.
std::vector<Eigen::VectorXd> assemblies_at(const Mechanism& mechanism, const Segment& segment,
                                           const std::vector<Eigen::Index>& rows);

/// joint "R" leaves its loop open by 3.1 mm
std::string gap_text(const LoopGap& gap);

/// Chooses the independent joints that are best conditioned along all given states.
/// @throws ChangePoint, with a column of `states`, if a change point is passed for any choice
CoordinateChoice choose_coordinates(const Mechanism& mechanism,
                                    const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
