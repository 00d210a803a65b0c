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

/// Finds clipped readings: plateaus at the largest or smallest reading of a recording, beyond which
/// the true motion continues. The joint enters a plateau with speed, leaves it with the opposite
/// speed, and nothing holds it there. For a plateau at the beginning or end of a recording, only
/// the motion at its other end is tested, and joints with end stops are skipped.
void find_clipped_readings(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, int index, SignalExamination& out);

/// Finds encoders without readings. Also finds encoders whose reading never changes, although
/// another reading or a motor command changes, or gravity or a spring would move the joint.
void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out);

/// Finds rows at the start or the end of a segment in which a hand holds the rig. All joints stand
/// still without a command, in a position without static equilibrium
/// (`find_non_equilibrium_joints`). These rows last at least 0.2 s, and at least five times as long
/// as the released joint would need to move away. If the rows are at the start, the static loads
/// must then move the joints without a command. If the rows are at the end, the equilibrium of the
/// joint must be near the middle of its motion before these rows.
/// @param recording  without outliers
void find_held_rig(const Mechanism& mechanism, const Recording& recording, SignalExamination& out);

/// Finds pairs of sensors that read different joints but have identical or exactly opposite
/// readings.
void find_copied_sensors(const Mechanism& mechanism, const Recording& recording,
                         SignalExamination& out);

/// Finds recordings in which the command of a motor never changes.
void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out);

/// Compares the quantization steps of readings with those in the rig description.
/// @param seen    quantization steps of the readings, one per sensor
void compare_quantization_steps(const std::vector<Encoder>& sensors,
                                const std::vector<double>& seen, const std::vector<double>& stated,
                                SignalExamination& out);

/// Finds inertial sensors with exchanged or mirrored axes, or that read in another unit (g,
/// degrees). Compares the readings of these sensors with rates and gravity directions computed from
/// the encoder readings. Reports an error only if the description leaves more than half of the sum
/// of squared readings unexplained, and one correction leaves less than a tenth unexplained.
/// Mounting, position and bias are taken from the description; their errors are far smaller.
/// @param recordings  without readings of held-out sensors (`split_held_out_sensors`)
std::vector<Finding> find_inertial_axis_errors(const Mechanism& mechanism,
                                               const std::vector<Recording>& recordings);

/// Compares a recording with the rig's limits. Reports readings outside the joint range, and speeds
/// and commands above their maxima. Also reports commands at their maximum, where the motor may
/// have received less than recorded.
void find_limit_violations(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, const SensorDescription& facts,
                           SignalExamination& out);

/// Reports position limits of the safety monitor that lie beyond an end stop, so that the joint
/// cannot reach them. Allows for the uncertainty of the stop's position and the encoder zero.
void find_limits_beyond_stops(const Mechanism& mechanism, const SensorDescription& facts,
                              SignalExamination& out);

/// Reports readings well beyond an end stop of their joint. They contradict the described position
/// of the stop or the encoder zero. Allows for noise, quantization and the uncertainty of the
/// stop's position.
void find_readings_beyond_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                                const Recording& recording, SignalExamination& out);

/// Finds encoders whose sampling rate is below that of the recording, so that rows repeat the
/// latest reading (`find_rows_per_reading`). Rejects the repetitions, which are not measurements.
void find_repeated_readings(const std::vector<Encoder>& sensors, const std::vector<double>& quanta,
                            const Recording& recording, int index, SignalExamination& out);

/// Allowance for the compliance of an end stop and the error of its given position [rad].
inline constexpr double kStopSlack = 0.01;

/// An interval in which one encoder repeats a reading: the rows [first, last] of a segment. Both
/// rows have a reading.
struct RestInterval {
  int segment, first, last;
  int readings = 1;       ///< number of readings that are not missing
  bool is_short = false;  ///< shorter than a second
};

/// Finds the intervals of a segment in which an encoder is at rest. Such an interval lasts at least
/// a second, or is shorter but too long for a turning point. Missing readings do not end an
/// interval.
/// @param index    index of the segment, for the results
/// @param quantum  quantization step of the encoder, > 0
std::vector<RestInterval> find_segment_rests(const Segment& segment, int index, int sensor,
                                             double quantum);

/// Finds long intervals in which one encoder is at rest, whether or not other joints move. All its
/// readings in such an interval have the same quantization error, so together they contain the
/// information of a single reading. In a fit, they would nevertheless outweigh the readings in
/// motion. Therefore only some of these readings are kept. Call this after `find_held_rig`: if a
/// hand holds the rig, the user must act.
/// @param sensor   index of the encoder
/// @param quantum  its quantization step; no intervals are found if it is 0 (noisy readings)
/// @param index    index of the recording
void find_rest_intervals(const Encoder& encoder, int sensor, double quantum,
                         const Recording& recording, int index, SignalExamination& out);

/// Finds the rest intervals of all encoders in all recordings (`find_rest_intervals`).
/// @param quanta  quantization step of each sensor; 0: noisy readings, which are all kept. For
///                exact readings of a simulation, rests are found after rounding to these steps
SignalExamination find_all_rest_intervals(const Mechanism& mechanism,
                                          const std::vector<Recording>& recordings,
                                          const Eigen::VectorXd& quanta);

/// Returns recordings without most readings of joints at rest, as a calibration uses them.
/// @param quanta  see `find_all_rest_intervals`
std::vector<Recording> thin_readings_at_rest(const Mechanism& mechanism,
                                             std::vector<Recording> recordings,
                                             const Eigen::VectorXd& quanta);

/// Finds end stops that the description lacks: positions that a joint never passes, where its speed
/// repeatedly jumps to zero or reverses. Speeds before and after are slopes of lines through some
/// readings. A jump counts if noise, quantization and sustained accelerations do not explain it. A
/// model without the stop attributes every impact to friction. Skips mechanisms with loops, where
/// aligned links reverse a joint like a stop. Also skips stops with a free position whose initial
/// value `find_initial_stops` sets there.
void find_undescribed_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                            const Recording& recording, SignalExamination& out);

/// Finds initial values of free end stops. A simulation that does not reach a stop has no
/// sensitivity to it. A fit with an initial stop beyond the readings would thus attribute impacts
/// to other parameters. The initial position is the furthest reading, if the joint's speed jumps
/// there or this reading is beyond the given stop. The initial restitution is the ratio of the
/// speeds. Skips mechanisms with loops, and parameters with a prior.
void find_initial_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                        const std::vector<Recording>& recordings, SignalExamination& out);

/// Finds joints that rest at their furthest reading, although their free end stop is given beyond
/// all readings. This reading becomes the initial position of the stop. Slow impacts with low
/// restitution cannot be distinguished from dry friction, so keep these values only if they improve
/// a calibration.
void find_stops_where_joints_rest(const Mechanism& mechanism, const std::vector<double>& quanta,
                                  const std::vector<Recording>& recordings, SignalExamination& out);

}  // namespace estimator
