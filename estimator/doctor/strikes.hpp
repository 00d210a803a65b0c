#pragma once

#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// End stops that the description does not have: places beyond which a joint never goes, and at
/// which its speed jumps, time and again, to nothing or the other way. Speeds before and after are
/// those of lines through some readings; a jump counts where noise, counting and accelerations that
/// last leave it unexplained. A model without the stop blames friction for every strike.
/// Not looked for where joints close loops: links that line up turn a joint back like a stop.
void find_strikes(const Mechanism& mechanism, const std::vector<double>& quanta,
                  const Recording& recording, SignalExamination& out);

}  // namespace estimator
