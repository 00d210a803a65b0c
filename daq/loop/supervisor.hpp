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

/// What became of every sample of a run.
struct SampleAccounts {
  std::uint64_t recorded = 0;
  std::uint64_t lost_on_link = 0;
  std::uint64_t lost_in_ring = 0;

  /// Samples the unit is known to have sent.
  std::uint64_t sent() const { return recorded + lost_on_link + lost_in_ring; }
};

/// What the operator needs to know of the unit's output after a trip.
/// @param ttl_ms  after which the unit switches off without a command
std::string describe(OutputState state, int ttl_ms);

/// The ordinary thread beside the loop: takes its records, accounts for every sample, and tells the
/// sinks and the operator what happens. Never touches the unit.
class Supervisor {
 public:
  /// @param recording  a failure of it is written into what is left of it, and ends the run:
  ///                   wants_stop()
  /// @param stream     may be null; a failure of it is said once and then ignored
  /// @param say        prints one line for the operator
  Supervisor(ControlLoop& loop, const BlackBox& black_box, const SafetyLimits& limits,
             RunSink& recording, RunSink* stream, std::function<void(const std::string&)> say);

  /// Takes what the loop has published, as far as the recording keeps up. Call it every 10 ms or so
  /// while the loop runs.
  void poll();

  /// A sample that came after the loop had ended, when the stream was stopped.
  void take_late(const firmware_iface::UnitSample& sample);

  /// Readings of inertial sensors that no sample has brought.
  void take_inertial(const firmware_iface::UnitInertial& readings);

  /// Readings recorded of an inertial sensor.
  std::uint64_t reading_count(std::size_t sensor) const { return reading_counts_[sensor]; }

  /// Call it when the loop has ended and the stream was stopped. Takes the rest, and balances the
  /// accounts if the unit said how many samples it sent.
  void finish(std::optional<std::uint64_t> samples_sent);

  /// An event of the run as a whole: the operator's stop, storage trouble.
  void report(proto::EventKind kind, const std::string& name, const std::string& text);

  const SampleAccounts& accounts() const { return accounts_; }
  const LoopRecord& last_record() const { return last_; }
  double time_s() const { return last_.observation.time_s; }

  /// Name and present reading of the joint that the operator is to hold, e.g. "joint \"2\" now 3°";
  /// empty while there is none.
  std::string held_reading() const;
  const std::optional<proto::Error>& storage_error() const { return storage_error_; }

  /// True once the run must end because it can no longer be recorded.
  bool wants_stop() const { return storage_error_.has_value(); }

 private:
  void drain(std::size_t unwritten_max);
  void take(const LoopRecord& record);
  void account(const LoopRecord& record);
  void note_gap(std::uint64_t first, std::uint64_t count, proto::GapCause cause);
  void note_phase(const LoopRecord& record);
  std::string prompt_of(const LoopRecord& record) const;
  void note_trip();
  void note_output();
  void note_black_box();
  void note_stats();
  void note_inertial_faults();
  void note_clock();
  void judge_clock(const firmware_iface::ClockFit& fit);
  void note_storage_error();
  double time_of(std::uint64_t sequence) const;

  template <typename Message>
  void tell(const Message& message);
  void note_stream_failure(const proto::Error& error);

  ControlLoop& loop_;
  const BlackBox& black_box_;
  const SafetyLimits& limits_;
  RunSink& recording_;
  RunSink* stream_;
  std::function<void(const std::string&)> say_;

  SampleAccounts accounts_;
  std::array<std::uint64_t, INERTIAL_SENSORS_MAX> reading_counts_{};
  std::array<std::uint8_t, INERTIAL_SENSORS_MAX> inertial_told_{};  // faults, a bit each
  std::uint64_t next_sequence_ = 0;
  LoopRecord last_;
  RunPhase phase_ = RunPhase::kSettling;
  double next_stats_s_ = 1.0;
  std::int64_t host_epoch_ns_ = 0;  // CLOCK_MONOTONIC at the first sample
  bool driven_ = false;             // the scenario has begun
  bool trip_told_ = false;
  OutputState output_told_ = OutputState::kInUse;
  double next_warning_s_ = 0.0;  // that the unit still drives
  bool clock_told_ = false;
  bool black_box_told_ = false;
  bool storage_error_told_ = false;
  std::optional<proto::Error> storage_error_;
};

}  // namespace daq
