#include "proto/check/number_check.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <limits>
#include <sstream>
#include <vector>

#include "proto/notation/number_format.hpp"

namespace proto {
namespace {

constexpr std::string_view kPackage = "rigcal.v1.";

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kWhole = 9007199254740992.0;    // 2^53: whole numbers that a double holds
constexpr double kU64 = 18446744073709551616.0;  // any number of 64 bits
constexpr double kU32 = 4294967295.0;
constexpr double kDisk_bytes = 1125899906842624.0;  // a pebibyte
constexpr double kMessages_bytes = 33554432.0;      // room for one reply and one message
constexpr double kQuantity = 1e12;                  // of a physical quantity in SI units
constexpr double kCommand = 1e6;                    // [unit of the control signal]
constexpr double kAngle_rad = 1e6;
constexpr double kSpeed_rad_per_s = 1e4;
constexpr double kPosition_m = 1e6;
constexpr double kSpeed_m_per_s = 1e4;
constexpr double kTime_s = 1e6;  // within a recording or a scenario
constexpr double kRecording_s = 1e9;
constexpr double kScenario_s = 10'000;  // a run, and its plan in memory
constexpr double kEpoch_ns = 4.1e18;    // the year 2099

constexpr NumberRange anything(std::string_view field) { return {field, -kInf, kInf, false, true}; }

// Fields of one message with the same range share a row.
constexpr NumberRange kRows[] = {
    // rig.proto
    within("Parameter.value lower upper prior_mean", kQuantity),
    above_zero("Parameter.prior_standard_deviation", kQuantity),
    up_to("Parameter.tolerance_percent", 100.0),
    within("Direction.x y z", 1e6),
    within("Dependency.constant", kQuantity),
    within("Dependency.Term.factor", kQuantity),
    within("Contact.Phase.start_s end_s", kRecording_s),
    up_to("Motor.control_max control_noise", kCommand),
    above_zero("Friction.transition_speed", kSpeed_rad_per_s),
    within("Motor.gear_ratio", 1e6),
    up_to("Cogging.order", 10'000),
    within("Joint.assembly_guess", kAngle_rad),
    within("Mimic.ratio", 1e6),
    within("Mimic.offset", kQuantity),
    above_zero("Body.cad_uncertainty_percent", 1e6),
    within("GaussianPrior.mean", kQuantity),
    above_zero("GaussianPrior.standard_deviation", kQuantity),
    between("Encoder.counts_per_turn", 1, kU32),
    above_zero("Encoder.counts_per_m", kQuantity),
    above_zero("Gyroscope.range_rad_per_s", kSpeed_rad_per_s),
    above_zero("Gyroscope.counts_per_rad_per_s", kQuantity),
    above_zero("Accelerometer.range_m_per_s2 counts_per_m_per_s2", kQuantity),
    above_zero("TorqueSensor.range counts_per_unit", kQuantity),
    within("TorqueSensor.torque_per_A", kQuantity),
    above_zero("LoadCell.range counts_per_unit", kQuantity),
    above_zero("CrossAxis.deviation_percent", 100.0),
    above_zero("PositionSensor.counts_per_m", kQuantity),
    above_zero("DistanceSensor.counts_per_m", kQuantity),
    up_to("Constraint.compliance_linear compliance_angular", 1e6),
    up_to("Constraint.damping_time_s", kTime_s),
    above_zero("Constraint.stick_speed", kSpeed_rad_per_s),
    between("Chain.links", 1, 32),
    above_zero("Chain.length_m", 1e6),
    above_zero("TimeColumn.rate_hz", 1e9),
    above_zero("TimeColumn.jitter_tolerance", 0.5),
    above_zero("TimeColumn.unit_s", 1e9),
    above_zero("AngleColumn.unit_rad", 1e6),
    above_zero("PositionColumn.unit_m", 1e6),
    within("AngleColumn.offset_rad", kAngle_rad),
    up_to("AngleColumn.counts_modulo", kWhole),
    within("PositionColumn.offset_m", kPosition_m),
    up_to("PositionColumn.counts_modulo", kWhole),
    within("ControlColumn.scale", kQuantity),
    above_zero("RecordingFormat.speed_max_rad_per_s speed_max_m_per_s", kQuantity),
    within("UnitChannel.offset_rad", kAngle_rad),
    within("UnitChannel.offset_m", kPosition_m),
    between("Unit.ttl_ms divider", 1, 255),
    within("JointSafety.angle_rad_min angle_rad_max", kAngle_rad),
    above_zero("JointSafety.speed_rad_per_s_max", kSpeed_rad_per_s),
    above_zero("JointSafety.jump_rad_max jump_m_max", 1e3),
    within("JointSafety.position_m_min position_m_max", kPosition_m),
    above_zero("JointSafety.speed_m_per_s_max", kSpeed_m_per_s),
    above_zero("JointSafety.missing_ms_max", 10'000),
    above_zero("Stall.command", kCommand),
    above_zero("Stall.time_s", 60.0),
    between("UnitInertial.divider", 1, 255),
    above_zero("InertialSafety.missing_ms_max stuck_ms_max saturated_ms_max", 10'000),
    above_zero("MotorSafety.command_max", kCommand),
    above_zero("MotorSafety.command_slew_per_s_max", kQuantity),
    above_zero("Safety.command_max", kCommand),
    above_zero("Safety.command_slew_per_s_max", kQuantity),
    above_zero("Safety.staleness_ms_max", 10'000),
    up_to("RealTime.priority", 99),
    between("RealTime.cpu", -1, 1023),

    // scenario.proto
    within("InitialState.angle_rad", kAngle_rad),
    within("InitialState.speed_rad_per_s", kSpeed_rad_per_s),
    within("InitialState.position_m", kPosition_m),
    within("InitialState.speed_m_per_s", kSpeed_m_per_s),
    within("InitialState.position_xyz_m", kPosition_m),
    within("InitialState.quaternion_wxyz", 1e6),
    within("InitialState.velocity_xyz_m_per_s", kSpeed_m_per_s),
    within("InitialState.angular_velocity_xyz_rad_per_s", kSpeed_rad_per_s),
    within("Release.held_angle_rad", kAngle_rad),
    above_zero("Release.held_tolerance_rad held_tolerance_m", 1e3),
    up_to("Release.rest_speed_rad_per_s", kSpeed_rad_per_s),
    within("Release.held_position_m", kPosition_m),
    up_to("Release.rest_speed_m_per_s", kSpeed_m_per_s),
    up_to("Release.rest_time_s", kTime_s),
    within("SwingUp.energy_gain", kQuantity),
    above_zero("SwingUp.command_max", kCommand),
    between("SwingUp.natural_frequency_hz", 1e-3, 1e3),
    up_to("SwingUp.stop_angle_rad", 10),
    within("SwingUp.kick_command", kCommand),
    up_to("SwingUp.kick_time_s", kTime_s),
    within("Pulse.command", kCommand),
    up_to("Pulse.start_s", kTime_s),
    above_zero("Pulse.width_s", kTime_s),
    within("TrainPulse.command", kCommand),
    up_to("TrainPulse.start_s", kTime_s),
    above_zero("TrainPulse.width_s", kTime_s),
    within("Step.command", kCommand),
    up_to("Step.start_s", kTime_s),
    within("Chirp.amplitude", kCommand),
    up_to("Chirp.frequency_start_hz frequency_end_hz", 1e6),
    up_to("Chirp.start_s", kTime_s),
    above_zero("Sine.frequency_hz", 1e6),
    within("Sine.amplitude", kCommand),
    within("Sine.phase_rad", kAngle_rad),
    up_to("Multisine.ramp_s", kTime_s),
    within("Replay.scale", kQuantity),
    above_zero("TestPush.command", kCommand),
    above_zero("TestPush.rise_s", kTime_s),
    above_zero("TestPush.motion_rad motion_m", 1e3),
    within("TestPush.angle_rad_min angle_rad_max", kAngle_rad),
    within("TestPush.position_m_min position_m_max", kPosition_m),
    up_to("TestPush.rest_s", kTime_s),
    up_to("TestPush.count", 100),
    within("PositionFeedback.angle_rad", kAngle_rad),
    within("PositionFeedback.position_m", kPosition_m),
    within("PositionFeedback.proportional_gain derivative_gain", kQuantity),
    above_zero("PositionFeedback.command_max", kCommand),
    up_to("JointLimit.angle_rad_max", kAngle_rad),
    up_to("JointLimit.speed_rad_per_s_max", kSpeed_rad_per_s),
    up_to("JointLimit.position_m_max", kPosition_m),
    up_to("JointLimit.speed_m_per_s_max", kSpeed_m_per_s),
    up_to("Limits.command_max", kCommand),
    up_to("Limits.command_slew_max", kQuantity),
    up_to("SensorNoise.angle_standard_deviation_rad position_standard_deviation_m", 1e3),
    up_to("SensorNoise.gyroscope_standard_deviation_rad_per_s", 1e3),
    up_to("SensorNoise.accelerometer_standard_deviation_m_per_s2", 1e3),
    up_to("SensorNoise.torque_standard_deviation_Nm force_standard_deviation_N", kQuantity),
    up_to("SensorNoise.seed", kU64),
    above_zero("Scenario.duration_s", kScenario_s),
    above_zero("Scenario.rate_hz", 1e5),

    // sim.proto
    up_to("SimFriction.viscous quadratic_drag coulomb_torque stribeck_torque", kQuantity),
    up_to("SimFriction.stribeck_rate load_arm", kQuantity),
    within("SimStops.lower_rad upper_rad", kAngle_rad),
    up_to("SimStops.restitution", 1),
    up_to("SimGravity.magnitude", 1e3),
    within("SimGravity.tilt_x_rad tilt_z_rad", 10),
    within("SimMotor.gain back_emf", 1e6),
    above_zero("SimPendulum.mass_kg center_distance_m", 1e6),
    up_to("SimPendulum.inertia", kQuantity),
    within("SimPendulum.start_angle_rad", kAngle_rad),
    within("SimPendulum.start_speed_rad_s", kSpeed_rad_per_s),
    above_zero("SimFuruta.arm_mass_kg arm_length_m pendulum_mass_kg", 1e6),
    above_zero("SimFuruta.pendulum_center_distance_m", 1e6),
    up_to("SimFuruta.arm_center_distance_m", 1e6),
    up_to("SimFuruta.arm_inertia_zz shaft_inertia pendulum_inertia_xx", kQuantity),
    up_to("SimFuruta.pendulum_inertia_yy pendulum_inertia_zz", kQuantity),
    within("SimFuruta.arm_start_angle_rad pendulum_start_angle_rad", kAngle_rad),
    between("SimEncoder.counts_per_turn", 1, kU32),
    within("SimEncoder.zero_offset_rad", kAngle_rad),
    up_to("SimEncoder.modulus", kU32),
    within("SimVector.x y z", 1e3),
    up_to("SimInertialSensor.joint dropout", 1),
    up_to("SimInertialSensor.gyro_noise_rad_s accel_noise_m_s2", 1e3),
    above_zero("SimInertialSensor.gyro_counts_per_rad_s accel_counts_per_m_s2", 1e6),
    above_zero("SimInertialSensor.accel_range_m_s2", 1e6),
    above_zero("SimInertialSensor.gyro_range_rad_s", kSpeed_rad_per_s),
    between("SimInertialSensor.divider", 1, 255),
    up_to("SimUnit.unit_id", kU64),
    between("SimUnit.tick_rate_hz", 1, 10'000),
    between("SimUnit.command_max_V", 0.001, 65),
    up_to("SimUnit.command_bits", 16),
    between("SimUnit.ttl_max_ms", 1, 255),
    within("SimUnit.clock_error_ppm", 1e5),
    up_to("SimUnit.clock_start_us", kWhole),
    up_to("SimHand.hold_s", 3600),
    up_to("SimLineFaults.frame_lost frame_duplicated frame_delayed stall burst byte_lost", 1),
    up_to("SimLineFaults.byte_duplicated bit_flipped", 1),
    up_to("SimLineFaults.delay_max_ms stall_max_ms", 1e6),
    between("SimLineFaults.burst_size_bytes_max", 1, 1000),
    up_to("SimLine.baud", 12'000'000),
    up_to("SimLine.latency_ms", 1e6),
    up_to("SimUnitFaults.channel_dropout reset", 1),
    up_to("SimUnitFaults.dropout_max_ms", 1e6),
    up_to("SimUnitFaults.dropout_channel", 7),
    up_to("Simulation.seed", kU64),

    // daemon.proto
    between("Daemon.workers", 1, 64),
    between("DaemonSlurm.memory_MB", 1, 1e8),
    between("DaemonLimits.connections streaming_sessions sessions queued_jobs jobs", 1, 1e6),
    up_to("DaemonLimits.session_size_bytes free_space_bytes job_memory_bytes", kDisk_bytes),
    between("DaemonLimits.job_duration_s handshake_timeout_s frame_timeout_s", 0.01, 1e7),
    between("DaemonLimits.write_timeout_s unload_after_s", 0.01, 1e7),
    between("DaemonLimits.buffer_bytes", kMessages_bytes, kDisk_bytes),
    between("DaemonLimits.index_bytes", 1, kDisk_bytes),
    up_to("DaemonLimits.live_fits", 1e6),
    between("DaemonShare.connections streaming_sessions sessions queued_jobs jobs", 1, 1e6),
    between("DaemonShare.disk_bytes buffer_bytes index_bytes", 1, kDisk_bytes),
    between("DaemonShare.running_jobs", 1, 64),
    up_to("DaemonShare.live_fits", 1e6),
    between("DaemonShare.processor_s", 1, 1e7),

    // stream.proto and sample.proto
    up_to("OpenSession.protocol_version", kU32),
    up_to("CheckLive.protocol_version", kU32),
    up_to("OpenSession.epoch_unix_ns", kEpoch_ns),
    up_to("SessionOpened.acknowledged_through", kWhole),
    up_to("SampleBatch.batch_sequence", kWhole),
    above_zero("LiveTarget.half_width", kQuantity),
    within("LiveEstimate.through_s duration_s", kRecording_s),
    up_to("Acknowledge.through", kWhole),
    up_to("CloseSession.last_batch_sequence", kWhole),
    up_to("SessionClosed.through", kWhole),
    within("Sample.timestamp", kRecording_s),
    up_to("Sample.sequence command_sequence error_count", kWhole),
    within("Sample.device_time_us encoder_counts", kWhole),
    {"Sample.angle_rad", -1e12, 1e12, false, /*may_be_nan=*/true},
    within("Sample.command", kCommand),
    up_to("Sample.fault_flags", kU32),
    {"Vector3.x y z", -kQuantity, kQuantity, false, /*may_be_nan=*/true},
    within("InertialReading.timestamp", kRecording_s),
    up_to("InertialReading.sequence", kWhole),
    up_to("InertialReading.sensor", 3),
    within("InertialReading.counts", 32768),
    up_to("InertialReading.saturated", 63),
    anything("JointEstimate.timestamp position velocity acceleration effort motor_effort"),
    anything("JointEstimate.friction_effort"),
    within("Command.timestamp", kRecording_s),
    up_to("Command.command_sequence", kWhole),
    within("Command.command", kCommand),
    anything("Command.command_requested"),  // whatever the scenario requested
    up_to("Command.flags", kU32),
    within("Gap.timestamp", kRecording_s),
    up_to("Gap.first_sequence sample_count", kWhole),
    within("Event.timestamp", kRecording_s),
    anything("Event.value"),  // measured value of a trip
    anything("Event.limit"),
    up_to("Event.sequence", kWhole),
    within("LinkFrame.timestamp", kRecording_s),
    within("ClockFit.timestamp", kRecording_s),
    within("ClockFit.rate_error_ppm offset_s", kQuantity),
    up_to("ClockFit.rate_error_ppm_sd residual_s_rms", kQuantity),
    up_to("ClockFit.point_count rejected_count", kWhole),
    within("LoopStats.timestamp", kRecording_s),
    up_to("LoopStats.cycle_count skipped_periods dropped_samples link_timeouts", kWhole),
    up_to("LoopStats.damaged_frames", kWhole),
    within("LoopStats.wakeup_us_mean wakeup_us_p99 wakeup_us_max cycle_us_mean", kQuantity),
    within("LoopStats.cycle_us_max", kQuantity),

    // service.proto, requests
    up_to("Hello.protocol_version", kU32),
    up_to("ReadRecording.offset_bytes", kU64),
    up_to("OpenUpload.size_bytes", kU64),
    up_to("UploadPart.offset_bytes", kU64),
    up_to("ReadReport.offset_bytes", kU64),
    within("JobRecording.from_s to_s", kTime_s),
    up_to("JobRecording.segments", 1e6),
    up_to("JobSpec.time_limit_s", 1e9),
};

/// Returns one range for each field of the rows.
std::vector<NumberRange> expanded_rows() {
  static std::deque<std::string> names;  // the ranges refer to them
  std::vector<NumberRange> ranges;
  for (const NumberRange& row : kRows) {
    const std::size_t dot = row.field.rfind('.') + 1;
    std::istringstream fields{std::string(row.field.substr(dot))};
    for (std::string field; fields >> field;) {
      ranges.push_back(row);
      ranges.back().field = names.emplace_back(row.field.substr(0, dot)) += field;
    }
  }
  return ranges;
}

}  // namespace

bool NumberRange::holds(double value) const {
  if (std::isnan(value)) return may_be_nan;
  return (above_min ? value > min : value >= min) && value <= max;
}

std::string NumberRange::text() const {
  const auto bound = [](double number) { return notation::format_exact(number); };
  return above_min ? "above " + bound(min) + ", up to " + bound(max)
                   : "from " + bound(min) + " to " + bound(max);
}

std::span<const NumberRange> number_ranges() {
  static const std::vector<NumberRange> kRanges = expanded_rows();
  return kRanges;
}

const NumberRange& require_range(std::string_view field) {
  const auto row = std::ranges::find(number_ranges(), field, &NumberRange::field);
  if (row == number_ranges().end()) std::abort();  // a wrong name; every test run finds it
  return *row;
}

const NumberRange* find_range(const google::protobuf::FieldDescriptor& field,
                              std::span<const NumberRange> ranges) {
  std::string_view name = field.full_name();
  if (!name.starts_with(kPackage)) return nullptr;
  name.remove_prefix(kPackage.size());
  const auto row = std::ranges::find(ranges, name, &NumberRange::field);
  return row == ranges.end() ? nullptr : &*row;
}

bool is_result_message(const google::protobuf::Descriptor& message) {
  return message.file()->name() == "proto/calibration.proto" || message.name() == "JobProgress" ||
         message.name() == "LiveParameter";
}

}  // namespace proto
