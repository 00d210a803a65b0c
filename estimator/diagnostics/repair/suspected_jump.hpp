#pragma once

#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A possible gap in time that the time stamps hide, and the predicted cost reduction of a fit that
/// includes this gap.
struct LostTimeScore {
  int segment = 0, row = 0;  ///< position of the first row after the loss
  double rows = 0.0;         ///< number of lost rows, > 0
  double gain = 0.0;         ///< cost reduction, in variances of the remaining residuals
};

/// Returns the sample at which the assumption that time was lost before it reduces the cost of a
/// fit most. From this sample on, the reading of every encoder is ahead by its speed times the lost
/// time.
///
/// Free states absorb such a jump at the next shooting node. The motion is therefore simulated from
/// nodes two and three times as far apart. Residuals between two of these nodes contain the jump
/// and the effect of state errors, which is modelled as one parabola in time per sensor.
/// @param fit       the fitted problem of states and parameters at its optimum
/// @param segments  the segments fitted
std::optional<LostTimeScore> find_likeliest_lost_time(const ShootingProblem& fit,
                                                      const std::vector<Segment>& segments,
                                                      const ShootingGrid& grid);

/// Hypothetical jumps in recordings: an encoder slip, and instants before which samples may be
/// missing although the time stamps have no gap.
struct SuspectedJump {
  /// Slip of one encoder and its repair. Has no repair if no slip is suspected.
  SignalExamination slip;
  std::vector<RecordingCut> lost_times =
      {};  ///< samples before which time may be lost, the likeliest first
};

/// Returns the likeliest encoder slip, and the likeliest instants of lost time, for a rejected
/// model. Omits jumps that noise alone can explain. `examine_residuals` may miss such a jump
/// because of noise, or because the model has adapted to it. The caller tries each repair, and
/// keeps it if `is_slip_confirmed`, or if the model is accepted on both sides of the cut.
/// @param estimate  mechanism estimated without the repair
SuspectedJump find_likeliest_jump(const Mechanism& estimate,
                                  const std::vector<Recording>& recordings,
                                  const CalibrationOptions& options,
                                  const CalibrationMonitor& monitor);

/// Returns whether a slip is confirmed: its offset is significant, and the model is accepted with
/// this offset free but rejected without it.
/// @param offset  name of the parameter that is the offset of the slip
bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset);

/// Returns whether a single encoder slip or loss of time may explain the whole misfit. With a
/// single jump, one half of its recording contains no jump, so the model must fit excerpts of this
/// half. The test fits the parameters to each half of every recording separately. The encoder
/// offsets are free in these fits, since a slip may occur before the half.
bool is_single_jump_plausible(const Mechanism& estimate, const std::vector<Recording>& recordings,
                              const CalibrationMonitor& monitor);

}  // namespace estimator
