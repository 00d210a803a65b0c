#pragma once

#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Long rests, in which every encoder repeats one reading. Its error of counting is one and the
/// same then, and thousands of repetitions would outweigh all that was read in motion: some of them
/// are kept, the others held back.
///
/// @param quanta  one a sensor; where one of them reads noise the rest is none
void find_rests(const std::vector<Sensor>& sensors, const std::vector<double>& quanta,
                const Recording& recording, int index, SignalExamination& out);

}  // namespace estimator
