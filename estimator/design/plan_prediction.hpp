#pragma once

#include <Eigen/Core>

#include "estimator/calibrate/identifiability.hpp"
#include "estimator/design/knowledge.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// How well the free parameters will be known once a planned run is recorded and calibrated with
/// what there was: the information of the fit of the open-loop simulation (calibrate_physical), for
/// readings with the noise stated or with the errors of counting.
///
/// @param run      the run as its readings would be without noise and without counting, with its
///                 controls; from rest
/// @param noise    standard deviation of a reading, one a sensor [rad or m]
/// @param quantum  one count of each sensor, whose errors are those of counting [rad or m]; 0: it
///                 does not count, and the noise is white
Uncertainty predict_plan(const Mechanism& mechanism, Segment run, const Eigen::VectorXd& noise,
                         const Eigen::VectorXd& quantum, const Knowledge& knowledge, int threads);

}  // namespace estimator
