#pragma once

#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Largest change of a reading that is attributed to rounding [rad], times JointUnits::scale.
inline constexpr double kReadingRounding = 1e-9;

/// Finds clipped readings, that is, plateaus at the largest or smallest reading of a recording that
/// the motion passes through. The joint enters a plateau with speed, leaves it with the opposite
/// speed, and is not held there. At the beginning or end of a recording, only the motion on the
/// other side of the plateau is tested, and joints with end stops are skipped.
void find_clipped_readings(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, int index, SignalExamination& out);

/// Finds encoders without readings, and encoders whose reading never changes although another
/// reading or a motor command changes, or although gravity or a spring would move the joint.
void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out);

/// Finds rows at the start or the end of a segment in which a hand holds the rig. All joints stand
/// still without a command, at a position in which a joint cannot be in static equilibrium
/// (`find_non_equilibrium_joints`), for at least 0.2 s and five times the time in which the
/// released joint would move away. Start: the joints then move without a command, and the static
/// loads do work. End: the joint is nearly in equilibrium in the middle of its motion.
/// @param recording  without outliers
void find_held_rig(const Mechanism& mechanism, const Recording& recording, SignalExamination& out);

/// Finds pairs of sensors with identical or exactly opposite readings although they read different
/// joints.
void find_copied_sensors(const Mechanism& mechanism, const Recording& recording,
                         SignalExamination& out);

/// Finds recordings in which the command of a motor never changes.
void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out);

/// Compares the quantization steps of readings with those in the rig description.
/// @param stated  steps in the rig description, one per sensor, 0 if not given; may be empty
void compare_quantization_steps(const std::vector<Encoder>& sensors,
                                const std::vector<double>& seen, const std::vector<double>& stated,
                                SignalExamination& out);

/// Finds inertial sensors with exchanged or mirrored axes, or that read in another unit (g,
/// degrees). Compares their readings with rates and gravity directions computed from the encoders.
/// Reports an error only if the description leaves more than half of the readings unexplained, and
/// one correction leaves less than a tenth (sums of squares). Mounting, position and bias are taken
/// from the description; their errors are far smaller.
/// @param recordings  without readings of held-out sensors (`split_held_out_sensors`)
std::vector<Finding> find_inertial_axis_errors(const Mechanism& mechanism,
                                               const std::vector<Recording>& recordings);

/// Compares a recording with the rig's limits. Reports readings outside the joint range, and speeds
/// and commands above their maxima. Also reports commands at their maximum, at which the motor may
/// have received less than recorded.
void find_limit_violations(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, const SensorDescription& facts,
                           SignalExamination& out);

/// Reports safety limits of joint positions beyond an end stop of the joint, which the joint cannot
/// exceed. Allows for the uncertainty of the stop's position and the encoder zero.
void find_limits_beyond_stops(const Mechanism& mechanism, const SensorDescription& facts,
                              SignalExamination& out);

/// Reports readings well beyond an end stop of their joint, which contradict the described position
/// of the stop or encoder zero. Allows for noise, quantization and the uncertainty of the stop's
/// position.
void find_readings_beyond_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                                const Recording& recording, SignalExamination& out);

/// Finds encoders that read less often than the recording has rows, so that rows repeat the latest
/// reading (`find_rows_per_reading`). These repetitions are not measurements and are rejected.
void find_repeated_readings(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                            const Recording& recording, int index, SignalExamination& out);

/// Allowance for the compliance of an end stop and the error of its given position [rad].
inline constexpr double kStopSlack = 0.01;

/// An interval in which one encoder repeats a reading, given as the rows [first, last] of a
/// segment, both with a reading.
struct RestInterval {
  int segment, first, last;
  int readings = 1;       ///< without missing ones
  bool is_short = false;  ///< shorter than a second
};

/// Finds the intervals of a segment in which an encoder is at rest: of at least one second, or
/// shorter but too long for a turning point. Missing readings do not end a rest.
/// @param index    index of the segment, for the results
/// @param quantum  quantization step of the encoder, > 0
std::vector<RestInterval> find_segment_rests(const Segment& segment, int index, int sensor,
                                             double quantum);

/// Finds long intervals in which one encoder is at rest, whether or not other joints move. All its
/// readings in such an interval have the same quantization error, count as one reading, and would
/// outweigh the readings in motion. Therefore only some of them are kept. Call after
/// `find_held_rig`: an interval at rest in which a hand holds the rig needs an action of the user.
/// @param sensor   index of the encoder
/// @param quantum  its quantization step; no intervals are found if it is 0 (noisy readings)
/// @param index    index of the recording
void find_rest_intervals(const Encoder& encoder, int sensor, double quantum,
                         const Recording& recording, int index, SignalExamination& out);

/// Finds the rest intervals of all encoders in all recordings (`find_rest_intervals`).
/// @param quanta  quantization step of each sensor; 0: noisy readings, which are all kept. Exact
///                readings of a simulation are rounded to these steps to find the joints at rest
SignalExamination find_all_rest_intervals(const Mechanism& mechanism,
                                          const std::vector<Recording>& recordings,
                                          const Eigen::VectorXd& quanta);

/// Returns recordings without most readings of joints at rest, as a calibration uses them.
/// @param quanta  see `find_all_rest_intervals`
std::vector<Recording> thin_readings_at_rest(const Mechanism& mechanism,
                                             std::vector<Recording> recordings,
                                             const Eigen::VectorXd& quanta);

/// Finds end stops that the description lacks, that is, positions that a joint never passes and at
/// which its speed repeatedly jumps to zero or reverses. Speeds before and after are slopes of
/// lines through some readings. A jump counts if noise, quantization and sustained accelerations do
/// not explain it. A model without the stop attributes every impact to friction. Skips mechanisms
/// with loops, where aligned links reverse a joint like a stop, and stops whose free position
/// `find_initial_stops` starts there.
void find_undescribed_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                            const Recording& recording, SignalExamination& out);

/// Finds initial values of free end stops. A model has no sensitivity to a stop that its motion
/// does not reach, so that a fit that starts with a stop beyond the readings attributes impacts to
/// other parameters. A stop starts at the furthest reading if the joint's speed jumps there, or if
/// this reading is beyond the given stop. Its restitution starts at the ratio of the speeds. Skips
/// mechanisms with loops, and parameters with a prior.
void find_initial_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                        const std::vector<Recording>& recordings, SignalExamination& out);

/// Finds free end stops beyond all readings at which a joint may nevertheless rest: the joint rests
/// at its furthest reading, where the stop starts. Slow impacts of low restitution cannot be
/// distinguished from dry friction, so keep these initial values only if they improve a
/// calibration.
void find_stops_at_rests(const Mechanism& mechanism, const std::vector<double>& quanta,
                         const std::vector<Recording>& recordings, SignalExamination& out);

}  // namespace estimator
