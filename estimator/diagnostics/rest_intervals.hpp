#pragma once

#include <vector>

#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Finds long rests in which every encoder repeats one reading. All repetitions have the same
/// quantization error, and thousands of them would outweigh the readings in motion. Therefore some
/// of them are kept and the others rejected.
///
/// @param quanta  one per sensor; no rests are found if a sensor's readings are noisy
void find_rest_intervals(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                         const Recording& recording, int index, SignalExamination& out);

}  // namespace estimator
