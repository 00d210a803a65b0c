#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/fit/singular_configurations.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Returns the segment without encoder slips: subtracts the estimated jump of each encoder that
/// lost counts from all later readings.
Segment remove_encoder_slips(const Mechanism& mechanism, Segment segment);

/// Settings of the low-pass filter of readings for initial states (signal/low_pass.hpp).
struct InitialStateFilter {
  double cutoff;          ///< cutoff frequency [Hz]
  bool to_noise = false;  ///< whether to raise the cutoff for fast motion
};

/// Returns the initial values of joint coordinates, nodes × joints [rad or m], from low-pass
/// filtered readings [Mar, section 4.4]. Nodes are `step` apart. Unobserved joints are zero.
///
/// Interpolates the filtered readings linearly to the nodes, also across missing samples, and adds
/// the encoder offsets. The result is accurate enough for initial values only.
///
/// @param step  a multiple or integer fraction of the sampling period [s]
Eigen::MatrixXd compute_initial_coordinates(const Mechanism& mechanism, const Segment& segment,
                                            double step, Eigen::Index nodes,
                                            const InitialStateFilter& filter);

/// Returns the initial values of angles and rates of all joints at every sampling period: 2·joints
/// × periods, angles over rates [rad, rad/s]. Angles are filtered readings in joint coordinates,
/// interpolated linearly across missing samples. Rates are central differences of angles.
/// Unobserved joints are zero.
///
/// @param cutoff  cutoff of the low-pass filter, raised for faster motion [Hz]
Eigen::MatrixXd compute_initial_joint_states(const Mechanism& mechanism, const Segment& segment,
                                             double cutoff);

/// Readings and start configuration for closing the loops of a mechanism along a motion.
struct LoopClosureData {
  Eigen::MatrixXd read;            ///< unfiltered readings, (at least joints) × samples
  Eigen::VectorXd assembled = {};  ///< start configuration; empty: `Joint::assembly_guess`
};

/// Computes the angles of unobserved joints in closed loops, and corrects observed angles by the
/// smallest change that closes the loops. Rates follow from differences of angles. States of
/// mechanisms without loops do not change.
///
/// A loop may have several assembly modes. If the initial readings do not determine the mode,
/// `Joint::assembly_guess` selects it. At singular configurations, select_branch selects the
/// branch.
///
/// @param period  time between columns [s]
/// @param states  2·joints × samples: angles over rates; those of unobserved joints are ignored
/// @param where   origin of the states, for error messages
/// @param facts   readings and start configuration; if omitted, `states` are the readings
/// @return singular configurations, where readings hardly determine the unobserved joints
/// @throws std::invalid_argument if a loop cannot be closed, or its assembly mode is ambiguous
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where,
                                               const LoopClosureData& facts,
                                               Eigen::MatrixXd& states);
std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where, Eigen::MatrixXd& states);

/// Returns the joint coordinates of a mechanism with loops at the given samples. The motion is
/// tracked from the start of the segment. Segments that begin at these samples use the result as
/// start configuration (Segment::assembled). Empty for trees, and if the loops do not close.
std::vector<Eigen::VectorXd> assemble_loops_at_samples(const Mechanism& mechanism,
                                                       const Segment& segment,
                                                       const std::vector<Eigen::Index>& rows);

/// Returns a message about an open loop, such as: joint "R" leaves its loop open by 3.1 mm.
std::string describe_open_loop(const LoopGap& gap);

/// Returns the choice of independent joints with the best conditioned loop closures over all given
/// states.
/// @throws ChangePointError with a column of `states`, if every choice passes a change point
CoordinateChoice choose_independent_joints(const Mechanism& mechanism,
                                           const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
