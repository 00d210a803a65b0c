#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment without gaps, resampled to the time step h: node k is at the time start + k·h.
struct TrajectoryData {
  double start = 0.0;
  Eigen::MatrixXd angles;    ///< encoder readings, nodes × encoders [rad]; NaN if missing
  Eigen::MatrixXd controls;  ///< recorded controls, samples × motors
  double period = 0.0;       ///< sampling period of `controls` [s]
  std::vector<Configuration> initial;  ///< one initial configuration per node
};

/// Resamples a segment to the time step and computes initial configurations [Mar, section 4.4].
///
/// Observations are the samples whose times coincide with nodes. The configurations follow from
/// `compute_initial_coordinates` and satisfy all constraints. Unobserved joints in loops follow
/// from the loop closures (close_loops); other unobserved joints start at zero.
///
/// @param step    a multiple or integer fraction of the sampling period [s]
/// @param cutoff  cutoff of the low-pass filter [Hz], see compute_initial_coordinates
/// @param where   name of the segment, for error messages
/// @throws std::invalid_argument if loops cannot be closed, or their assembly mode is ambiguous
TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where);

/// The mean controls of all time steps of a segment. Row-major, so a step's controls are
/// contiguous.
struct StepControlTable {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix mean;         ///< mean controls, nodes × motors
  Matrix delay_slope;  ///< ∂mean/∂delay, nodes × motors [unit/s]; zero if no delay is free
};

/// Averages the recorded controls over one time step, centred at the time of each node minus the
/// input delay. The impulse at a node changes the velocity before the node to the velocity after
/// the node, so the centred mean is second-order accurate.
/// @param controls  samples × motors, each constant for the sampling period after its sample
StepControlTable make_step_controls(const Mechanism& mechanism, const Eigen::MatrixXd& controls,
                                    double period, double step, int node_count);

}  // namespace estimator
