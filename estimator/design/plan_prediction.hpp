#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/identifiability.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// How well the free parameters will be known once a planned run is recorded and calibrated
/// together with what there is: the information of the fit of the open-loop simulation
/// (calibrate_physical), for readings with the noise stated or with the errors of counting. Costs a
/// linearisation.
///
/// @param earlier  recordings that there are
/// @param run      the run as its readings would be without noise and without counting, with its
///                 controls
/// @param noise    standard deviation of a reading, one a sensor [rad or m]
/// @param quantum  one count of each sensor, whose errors are those of counting [rad or m]; 0: it
///                 does not count, and the noise is white
/// @param known    information, free × free, that stands for the priors and for recordings that are
///                 not there any more; empty: the priors' own
/// @throws std::invalid_argument as `calibrate`
Uncertainty predict_plan(const Mechanism& mechanism, const std::vector<Recording>& earlier,
                         const Segment& run, const Eigen::VectorXd& noise,
                         const Eigen::VectorXd& quantum, const Eigen::MatrixXd& known, int threads);

}  // namespace estimator
