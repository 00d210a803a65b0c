#pragma once

#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Finds long intervals at rest, in which every encoder repeats one reading. These readings all
/// have the same quantization error, and thousands of them would outweigh the readings in motion.
/// Therefore only some of them are kept and all others rejected.
/// @param quanta  quantization step of each sensor; no intervals are found if readings are noisy
void find_rest_intervals(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                         const Recording& recording, int index, SignalExamination& out);

}  // namespace estimator
