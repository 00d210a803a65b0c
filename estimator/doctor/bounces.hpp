#pragma once

#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Joints that turn back at once, again and again at one place, as against an end stop that the
/// description does not know. Friction, motors and springs take time to turn a joint round.
void find_bounces(const Mechanism& mechanism, const std::vector<double>& quanta,
                  const Recording& recording, SignalExamination& out);

}  // namespace estimator
