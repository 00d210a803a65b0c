#pragma once

#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Finds end stops that the description lacks, that is, positions that a joint never passes and at
/// which its speed repeatedly jumps to zero or reverses. Speeds before and after are slopes of
/// lines through some readings. A jump counts if noise, quantization and sustained accelerations do
/// not explain it. A model without the stop attributes every impact to friction. Skips mechanisms
/// with loops, where aligned links reverse a joint like a stop.
void find_stop_impacts(const Mechanism& mechanism, const std::vector<double>& quanta,
                       const Recording& recording, SignalExamination& out);

}  // namespace estimator
