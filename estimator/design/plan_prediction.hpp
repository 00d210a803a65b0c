#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Predicts the uncertainty of the free parameters after a planned run has been recorded and
/// calibrated together with earlier recordings. Assumes a fit of the open-loop simulation
/// (calibrate_physical), and readings with given noise or quantization. Costs one linearisation.
/// @param earlier  existing recordings
/// @param run      the planned run: readings without noise and quantization, and controls
/// @param noise    standard deviation of a reading, one per sensor [rad or m]
/// @param quantum  quantization step of each sensor with quantization errors [rad or m]; 0: white
///                 noise
/// @param known    information matrix, free × free, of priors and of recordings that no longer
///                 exist; if empty, that of the priors
/// @throws std::invalid_argument as `calibrate`
Uncertainty predict_plan(const Mechanism& mechanism, const std::vector<Recording>& earlier,
                         const Segment& run, const Eigen::VectorXd& noise,
                         const Eigen::VectorXd& quantum, const Eigen::MatrixXd& known, int threads);

}  // namespace estimator
