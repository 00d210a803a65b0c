#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/singular_configurations.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/coordinate_choice.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {

/// Readings and start configuration for closing the loops of a mechanism along a motion.
struct LoopClosureData {
  Eigen::MatrixXd read;            ///< joints, or more rows, × samples: unfiltered readings
  Eigen::VectorXd assembled = {};  ///< start configuration; empty: `Joint::assembly_guess`
};

/// Computes the angles of unobserved joints in loops, and corrects observed angles by the least
/// change that closes the loops. Rates follow from differences. Trees remain unchanged.
///
/// A loop may have several assembly modes. If the initial readings do not determine the mode,
/// `Joint::assembly_guess` selects it. In singular configurations select_branch selects the branch.
///
/// @param period  time between columns [s]
/// @param states  2·joints × samples: angles over rates; those of unobserved joints are ignored
/// @param where   origin of the states, for error messages
/// @param facts   readings and start configuration; if omitted, `states` are the readings
/// @return singular configurations, in which readings hardly determine the unobserved joints
/// @throws std::invalid_argument if a loop cannot be closed, or its assembly mode is ambiguous
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where,
                                               const LoopClosureData& facts,
                                               Eigen::MatrixXd& states);
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where, Eigen::MatrixXd& states);

/// Returns joint coordinates at the given samples of a segment, propagated from its start. They
/// become Segment::assembled of segments that begin there. Empty for trees, and if the loops do not
/// close.
std::vector<Eigen::VectorXd> assemblies_at(const Mechanism& mechanism, const Segment& segment,
                                           const std::vector<Eigen::Index>& rows);

/// Returns a description of an open loop, such as: joint "R" leaves its loop open by 3.1 mm.
std::string gap_text(const LoopGap& gap);

/// Chooses the independent joints that are best conditioned along all given states.
/// @throws ChangePoint with a column of `states`, if every choice passes a change point
CoordinateChoice choose_coordinates(const Mechanism& mechanism,
                                    const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
