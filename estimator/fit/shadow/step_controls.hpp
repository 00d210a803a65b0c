#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Mean controls of the time steps of a segment; row-major, so that a step's controls are
/// contiguous.
struct StepControlTable {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix mean;         ///< mean controls, nodes × motors
  Matrix delay_slope;  ///< ∂mean/∂delay, nodes × motors [unit/s]; zero if no delay is free
};

/// Averages the recorded controls, for every node, over the interval of length `step` centred at
/// the node, minus the input delay. The impulse at a node changes the velocity before the node to
/// the velocity after it, so the centred mean is second-order accurate.
///
/// @param controls  samples × motors, each constant for the sampling period after its sample
StepControlTable make_step_controls(const Mechanism& mechanism, const Eigen::MatrixXd& controls,
                                    double period, double step, int node_count);

}  // namespace estimator
