#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daq/loop/control_loop.hpp"
#include "daq/loop/run_sink.hpp"

namespace daq {

/// Numbers of recorded and lost samples of a run.
struct SampleCounts {
  std::uint64_t recorded = 0;
  std::uint64_t lost_on_link = 0;
  std::uint64_t lost_in_ring = 0;

  /// Returns the number of samples that the unit is known to have sent.
  std::uint64_t sent() const { return recorded + lost_on_link + lost_in_ring; }
};

/// Describes the state of the unit's output after a trip, for the operator.
/// @param ttl_ms  time after which the unit switches off without a command
std::string describe_output_state(OutputState state, int ttl_ms);

/// Processes the records of a control loop on an ordinary thread. Counts every sample as recorded
/// or lost, and passes messages to the recording, the stream and the operator. Never accesses the
/// unit.
class Supervisor {
 public:
  /// @param recording  receives all messages; if it fails, an event is written and must_stop() is
  ///     true
  /// @param stream     may be null; a failure is reported once and then ignored
  /// @param say        prints one line for the operator
  Supervisor(ControlLoop& loop, const BlackBox& black_box, const SafetyLimits& limits,
             RunSink& recording, RunSink* stream, std::function<void(const std::string&)> say);

  /// Processes the waiting records of the control loop, at most as many as the recording can store.
  /// To be called about every 10 ms while the loop runs.
  void poll();

  /// Adds a sample that arrived after the end of the control loop, while the sample stream was
  /// being stopped.
  void add_late_sample(const firmware_iface::UnitSample& sample);

  /// Adds readings of inertial sensors that no later sample contains, such as the last readings of
  /// a run.
  void add_inertial_readings(const firmware_iface::InertialReadings& readings);

  /// Returns the number of recorded readings of an inertial sensor.
  std::uint64_t inertial_reading_count(std::size_t sensor) const { return reading_counts_[sensor]; }

  /// Processes the remaining records, after the loop has ended and the stream was stopped.
  /// Completes the sample counts if the unit reported how many samples it sent.
  void finish(std::optional<std::uint64_t> samples_sent);

  /// Records an event that concerns the whole run, such as the operator's stop or a storage error.
  void report(proto::EventKind kind, const std::string& name, const std::string& text);

  const SampleCounts& sample_counts() const { return sample_counts_; }
  const LoopRecord& last_record() const { return last_; }
  double time_s() const { return last_.observation.time_s; }

  /// Returns the name and present position of the joint that the operator must hold, such as "joint
  /// \"2\" now 3°"; empty if there is no such joint.
  std::string describe_held_joint() const;
  const std::optional<proto::Error>& storage_error() const { return storage_error_; }

  /// Returns whether the run must end because its data can no longer be recorded.
  bool must_stop() const { return storage_error_.has_value(); }

 private:
  void drain(std::size_t unwritten_max);
  void take(const LoopRecord& record);
  void count_missing_samples(const LoopRecord& record);
  void record_gap(std::uint64_t first, std::uint64_t count, proto::GapCause cause);
  void record_phase_change(const LoopRecord& record);
  bool is_first_report_of_output_off(const LoopRecord& record) const;
  std::string operator_prompt(const LoopRecord& record) const;
  void record_trip();
  void report_output_state();
  void record_black_box();
  void record_loop_statistics();
  void report_inertial_faults();
  void record_clock_fits();
  void warn_about_clock(const firmware_iface::ClockFit& fit);
  void report_storage_error();
  double seconds_since_start(std::uint64_t sequence) const;

  void publish(const proto::RecordingMessage& message);
  void report_stream_failure(const proto::Error& error);

  ControlLoop& loop_;
  const BlackBox& black_box_;
  const SafetyLimits& limits_;
  RunSink& recording_;
  RunSink* stream_;
  std::function<void(const std::string&)> say_;

  SampleCounts sample_counts_;
  std::array<std::uint64_t, INERTIAL_SENSORS_MAX> reading_counts_{};
  std::array<std::uint8_t, INERTIAL_SENSORS_MAX>
      reported_inertial_faults_{};  // reported faults, a bit each
  std::uint64_t next_sequence_ = 0;
  LoopRecord last_;
  RunPhase phase_ = RunPhase::kSettling;
  double next_stats_s_ = 1.0;
  std::int64_t host_epoch_ns_ = 0;  // CLOCK_MONOTONIC at the first sample
  bool driven_ = false;             // the scenario has started
  bool trip_reported_ = false;
  OutputState reported_output_ = OutputState::kInUse;
  double next_warning_s_ = 0.0;  // of the warning that the unit still drives
  bool clock_reported_ = false;
  bool black_box_reported_ = false;
  bool storage_error_reported_ = false;
  std::optional<proto::Error> storage_error_;
};

}  // namespace daq
