#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/intervals/bootstrap_intervals.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The method by which a bootstrap generates the recordings of a draw.
enum class BootstrapMethod {
  kNoise,    ///< parametric: predicted readings with simulated sensor errors
  kBlocks,   ///< blocks of time, drawn with replacement; includes model errors
  kLeaveOut  ///< all parts except one; draw i leaves out part i
};

/// Simulated errors of an encoder [rad or m].
struct EncoderErrors {
  double noise = 0.0;    ///< standard deviation of white noise before quantization
  double quantum = 0.0;  ///< quantization step; 0: none
  double disc = 0.0;     ///< amplitude of an error of the encoder disc, once per turn
};

/// Inputs of the draws of a bootstrap.
struct BootstrapInput {
  Mechanism mechanism;                  ///< rig description with the estimates
  std::vector<std::string> parameters;  ///< names of the estimated parameters
  std::vector<Recording> predicted;     ///< recordings with predicted readings
  std::vector<EncoderErrors> errors;    ///< one per used encoder
  std::vector<Recording> blocks;        ///< blocks of time
  std::vector<Recording> parts;         ///< parts to leave out, one per draw
  bool leaves_out_blocks = false;       ///< `parts` are blocks, not whole recordings
  CalibrationOptions options;
  std::uint64_t seed = 1;
};

/// Returns the inputs of a bootstrap without `blocks` and `parts`.
/// @param rig          rig description from which `calibration` was estimated
/// @param recordings   recordings of the calibration, after repairs
/// @param disc_error   amplitude of the simulated error of encoder discs [rad]
/// @throws std::invalid_argument for shadow parameters, or if a calibration has not converged
BootstrapInput make_bootstrap_input(const Mechanism& rig, const std::vector<Recording>& recordings,
                                    const Calibration& calibration,
                                    const CalibrationOptions& options, double disc_error);

/// Returns whether kNoise can simulate the recordings: all sensors are encoders, and the motion has
/// no process noise. For other recordings, the draws of kNoise would scatter too little.
bool can_simulate_readings(const Mechanism& rig, const Calibration& calibration);

/// Returns the recordings of a draw. They depend only on the input, the method and the index.
std::vector<Recording> make_bootstrap_recordings(const BootstrapInput& input,
                                                 BootstrapMethod method, int index);

/// The estimates from one draw, one per parameter; NaN if the draw does not identify the parameter.
struct BootstrapDraw {
  std::vector<double> values;
  std::vector<double> half_intervals;  ///< half-widths of the reported 95 % intervals
};

/// Calibrates the recordings of a draw, starting at the estimates.
/// @throws std::invalid_argument if the recordings cannot be used, or the fit does not converge
BootstrapDraw compute_bootstrap_draw(const BootstrapInput& input, BootstrapMethod method, int index,
                                     const CalibrationMonitor& monitor);

/// Calibrates all blocks jointly, each with its own initial state. Draws of blocks scatter about
/// these estimates. The blocks together contain less information than whole segments.
/// @throws as compute_bootstrap_draw
BootstrapDraw calibrate_all_blocks(const BootstrapInput& input, const CalibrationMonitor& monitor);

/// The estimates from all draws with a result, by method.
struct BootstrapDraws {
  std::vector<BootstrapDraw> noise, blocks, left_out;
  BootstrapDraw all_blocks;  ///< result of calibrate_all_blocks; empty without blocks
  int block_count = 0;       ///< number of blocks of time
};

/// The bootstrap of one parameter.
struct BootstrapParameter {
  ParameterEstimate reported;           ///< reported estimate, whose interval is checked
  BootstrapDistribution noise, blocks;  ///< distributions over the draws of kNoise and of kBlocks
  double jackknife_deviation = std::numeric_limits<double>::quiet_NaN();  ///< by kLeaveOut
  /// Estimate from all blocks, and the half-width of its 95 % interval from sensor noise. NaN
  /// without blocks.
  double blocks_value = std::numeric_limits<double>::quiet_NaN();
  double blocks_half_interval = std::numeric_limits<double>::quiet_NaN();
  /// Share of the draws of kNoise whose reported 95 % interval contains the estimate, the true
  /// value of these draws. NaN without draws.
  double coverage = std::numeric_limits<double>::quiet_NaN();
  /// Scatter of the draws of blocks, relative to the scatter that sensor noise explains. It is the
  /// smaller of two values. The first is the half-width of the interval of these draws, divided by
  /// blocks_half_interval. The second is the half-width of the interval of their normalized values:
  /// the value of each draw minus blocks_value, divided by the half-width of its own interval. NaN
  /// without draws, or if the half-widths of the draws differ too much from blocks_half_interval.
  double block_ratio = std::numeric_limits<double>::quiet_NaN();
  bool missed_by_noise = false;     ///< coverage is significantly below 90 %
  bool exceeded_by_blocks = false;  ///< block_ratio is significantly above 1
};

/// Whether the bootstrap confirms the reported intervals.
enum class IntervalVerdict {
  kHold,
  kTooNarrow,  ///< a parameter is `missed_by_noise` or `exceeded_by_blocks`
  kUndecided,  ///< fewer than kDecisiveDrawsMin draws of kNoise and of kBlocks
};

/// Number of draws below which even a coverage of 65 % is not significantly too low.
inline constexpr int kDecisiveDrawsMin = 20;

/// The result of a bootstrap.
struct Bootstrap {
  std::vector<BootstrapParameter> parameters;
  IntervalVerdict verdict = IntervalVerdict::kUndecided;
};

/// Compares the reported intervals of a calibration with bootstrap intervals.
Bootstrap assess_bootstrap(const Calibration& calibration, const BootstrapDraws& draws);

}  // namespace estimator
