#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Control means over the steps of a segment; row-major, so that a step's controls are contiguous.
struct StepControlTable {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix mean;         ///< nodes × motors
  Matrix delay_slope;  ///< nodes × motors, ∂mean/∂delay [unit/s]; zero if no delay is free
};

/// Averages the recorded control for every node k over the interval of length h centred at the
/// node, minus the input delay. The impulse at node k changes the velocity of the interval before
/// it to that of the interval after it, so the centred mean is second-order accurate.
///
/// @param controls samples × motors, held over [t_k, t_k + period)
StepControlTable make_step_controls(const Mechanism& mechanism, const Eigen::MatrixXd& controls,
                                    double period, double step, int node_count);

}  // namespace estimator
