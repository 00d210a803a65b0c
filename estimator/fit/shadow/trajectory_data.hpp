#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A gap-free run of samples on the grid of the time step: node k at start + k·h.
struct TrajectoryData {
  double start = 0.0;
  Eigen::MatrixXd angles;              ///< nodes × encoders [rad], NaN if not observed
  Eigen::MatrixXd controls;            ///< samples × motors, at the sampling period
  double period = 0.0;                 ///< sampling period of `controls` [s]
  std::vector<Configuration> initial;  ///< one initial configuration per node
};

/// Resamples a segment to the time step, with initial configurations [Mar, section 4.4].
///
/// Observations are the raw samples that fall on nodes. Configurations at `start_coordinates` are
/// assembled at zero constraint violation. Unobserved joints in loops follow from the closures
/// (close_loops), others start at zero.
///
/// @param step    a multiple or integer fraction of the sampling period [s]
/// @param cutoff  of the low pass [Hz], see start_coordinates
/// @param where   name of the segment, for error messages
/// @throws std::invalid_argument if loops cannot be closed, or their assembly mode is ambiguous
TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where);

}  // namespace estimator
