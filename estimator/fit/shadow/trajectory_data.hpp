#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Gap-free segment resampled to the time step h: node k is at the time start + k·h.
struct TrajectoryData {
  double start = 0.0;
  Eigen::MatrixXd angles;    ///< encoder readings, nodes × encoders [rad]; NaN if missing
  Eigen::MatrixXd controls;  ///< recorded controls, samples × motors
  double period = 0.0;       ///< sampling period of `controls` [s]
  std::vector<Configuration> initial;  ///< one initial configuration per node
};

/// Resamples a segment to the time step and computes initial configurations [Mar, section 4.4].
///
/// Observations are the raw samples whose times coincide with nodes. The configurations follow from
/// `start_coordinates` and satisfy all constraints. Unobserved joints in loops follow from the loop
/// closures (close_loops); other unobserved joints start at zero.
///
/// @param step    a multiple or integer fraction of the sampling period [s]
/// @param cutoff  cutoff of the low-pass filter [Hz], see start_coordinates
/// @param where   name of the segment, for error messages
/// @throws std::invalid_argument if loops cannot be closed, or their assembly mode is ambiguous
TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where);

}  // namespace estimator
