#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// One gap-free stretch on the grid of the time step: node k at start + k·h.
struct TrajectoryData {
  double start = 0.0;
  Eigen::MatrixXd angles;              ///< nodes × measured hinges [rad], NaN where not observed
  Eigen::MatrixXd controls;            ///< samples × motorised hinges, at the sampling period
  double period = 0.0;                 ///< sampling period of `controls` [s]
  std::vector<Configuration> initial;  ///< one start configuration a node
};

/// A segment on the grid of the time step, with start configurations [Mar, section 4.4].
///
/// Observations are the raw samples that fall on nodes, nothing else. Configurations at
/// `start_coordinates` are assembled at zero constraint violation; hinges that no reading tells of
/// start where the loops put them (close_loops), else at zero.
///
/// @param step    whole multiple or whole fraction of the sampling period [s]
/// @param cutoff  of the low pass [Hz], see start_coordinates
/// @param where   what the segment is of, for errors
/// @throws std::invalid_argument where loops cannot be closed, or can be in several ways
TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where);

}  // namespace estimator
