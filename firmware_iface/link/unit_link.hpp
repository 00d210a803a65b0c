#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/link/sample_tracker.hpp"
#include "firmware_iface/link/unit_clock.hpp"
#include "firmware_iface/link/unit_sample.hpp"
#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/session.h"

namespace firmware_iface {

enum class Direction { kToHost, kToUnit };

/// Interface that receives every valid message of both directions, e.g. a black box that stores the
/// last ones. Called on the thread that reads and writes; must not allocate, block or throw.
class MessageListener {
 public:
  virtual ~MessageListener() = default;
  virtual void on_message(Direction direction, std::span<const std::uint8_t> message,
                          Nanoseconds at) noexcept = 0;
};

/// Timeout and repetitions of requests.
struct RequestSettings {
  Nanoseconds reply_timeout = std::chrono::milliseconds(100);
  int attempts_max = 10;
};

struct StreamSettings {
  bool compact = false;
  bool host_paced = false;
  bool marks = false;  ///< index pulses and home switches with each sample
  int divider = 1;     ///< a sample every divider ticks, 1..255
  /// Largest age of a sample that a command may answer, in ticks before the newest sample, 1..255.
  int command_age_ticks = COMMAND_AGE_TICKS_DEFAULT;
  /// Reading interval of each inertial sensor, in samples; 0 if the sensor is not read.
  std::array<int, INERTIAL_SENSORS_MAX> inertial_divider{};
};

/// Final counts of a stream.
struct FinalSampleCounts {
  std::uint64_t samples_sent = 0;  ///< as counted by the unit
  std::uint64_t lost_at_end = 0;   ///< samples after the last received one; counted as lost
};

enum class ReadStatus {
  kSample,
  kTimeout,
  kClosed,        ///< the transport was closed
  kInconsistent,  ///< reports do not continue the stream (unit restarted?): call connect() again
};

enum class ClearTripState { kIdle, kPending, kDone, kRefused, kNoReply };

/// Counters of messages and samples since construction. After a stream has ended with stop_stream()
/// or connect(), samples_received + samples_lost is exactly the number of samples that the unit
/// sent.
struct LinkCounters {
  std::uint64_t samples_received = 0;
  std::uint64_t samples_lost = 0;
  std::uint64_t gaps = 0;                 ///< number of sequences of lost samples
  std::uint64_t samples_repeated = 0;     ///< not newer than the last sample: dropped
  std::uint64_t samples_implausible = 0;  ///< sequence and clock disagree: dropped
  std::uint64_t messages_unexpected = 0;  ///< good frames that are not expected: dropped
  std::uint64_t inertial_received = 0;    ///< messages with readings of inertial sensors
  std::uint64_t inertial_unmatched = 0;   ///< of these, messages whose sample was lost: dropped
  std::uint64_t commands_sent = 0;
  std::uint64_t commands_not_sent = 0;  ///< the transport did not accept all bytes
  std::uint64_t bytes_received = 0;
  std::uint64_t command_delays = 0;  ///< number of measured delays; the next two are their extremes
  int command_delay_ticks_min = 0;
  int command_delay_ticks_max = 0;
};

/// Link to one conversion unit: connects, starts the sample stream, reads samples and sends
/// commands.
///
/// connect, start_stream and stop_stream wait, allocate and report Errors; all other functions are
/// for the real-time thread. Not thread-safe.
class UnitLink {
 public:
  explicit UnitLink(Transport& transport, MessageListener* tap = nullptr)
      : transport_(&transport), tap_(tap) {}

  /// Starts a session and returns the unit's description. The unit stops its sample stream, and
  /// trips if it was driving. If a stream was running, its sample counts are completed. Errors:
  /// kUnitSilent, kProtocolVersion, kLayoutMismatch, kUnitRefused.
  Result<UnitDescription> connect(const RequestSettings& settings = {});

  /// Starts the sample stream. Returns kLineTooSlow if the line is too slow for the stream. Needs a
  /// session without a running stream; after an error, call connect() again.
  Status start_stream(const StreamSettings& stream, const RequestSettings& settings = {});

  /// Stops the sample stream and completes the sample counts. Samples that still arrive are passed
  /// to `late_sample`. A unit that drives trips: call write_idle_command() first.
  Result<FinalSampleCounts> stop_stream(
      const std::function<void(const UnitSample&)>& late_sample = {},
      const RequestSettings& settings = {});

  // --- Real-time thread: no allocation, no locks, no exceptions. ---

  /// Reads the next sample in order, waiting until `deadline` of the transport's clock.
  ReadStatus read_sample(Nanoseconds deadline, UnitSample& sample) noexcept;

  /// Sends a command with one entry per motor, in the motor's unit. It is valid for ttl_ms from the
  /// latch of the last sample read. Entries are clamped to the unit's range; missing entries are 0.
  /// Returns false if the transport did not accept the command. A NaN or infinite entry trips the
  /// unit instead.
  bool write_command(std::span<const double> command, int ttl_ms) noexcept;

  /// Sends a command that sets the motor output to zero without a trip. The command has no time to
  /// live.
  bool write_idle_command() noexcept;

  /// Sends a command that sets the motor output to zero and trips the unit (FAULT_HOST). Ends a
  /// request to clear the unit's trip.
  bool write_trip_command() noexcept;

  /// Requests that the unit clears its trip. Later calls of read_sample process the further
  /// messages of this request.
  void request_trip_clear() noexcept;
  ClearTripState trip_clear_state() const noexcept { return clear_state_; }

  /// Returns the unit's fault flags from its last reply to a request to clear the trip.
  std::uint8_t fault_flags_after_clear() const noexcept { return clear_fault_flags_; }

  /// Returns the inertial readings that belong to the last received sample. The next sample clears
  /// them.
  const InertialReadings& last_inertial_readings() const noexcept { return inertial_; }

  const LinkCounters& counters() const noexcept { return counters_; }
  const FrameCounters& frame_counters() const noexcept { return decoder_.counters(); }
  const UnitClockEstimator& clock() const noexcept { return clock_; }
  const std::optional<UnitFault>& last_fault() const noexcept { return last_fault_; }
  const UnitDescription& facts() const noexcept { return facts_; }
  Transport& transport() noexcept { return *transport_; }

 private:
  struct SentCommand {
    std::uint64_t sequence = 0;
    std::int64_t unit_time_us = 0;  // of the last sample read before it was written
    bool sample_seen = false;       // there was such a sample
  };
  struct ConfigureAnswer {
    std::uint32_t samples_sent;  // low bits
    std::uint32_t start_tick_us;
    int stream_count;
  };
  static constexpr std::size_t kCommandHistory = 256;  // power of two; covers the 8-bit echo

  bool write_message(std::span<const std::uint8_t> message) noexcept;
  bool write_command_message(command_request request) noexcept;
  IoStatus read_message(Nanoseconds deadline) noexcept;
  IoStatus send_request(std::span<const std::uint8_t> message, const RequestSettings& settings,
                        const std::function<bool()>& accept);
  Status request_descriptions(const hello_reply& reply, const RequestSettings& settings);
  Status check_stream_settings(const StreamSettings& stream) const;
  Status check_inertial_dividers(const StreamSettings& stream) const;
  sample_shape shape() const noexcept {
    return {static_cast<std::uint8_t>(facts_.encoder_count),
            static_cast<std::uint8_t>(facts_.motor_count), stream_.marks};
  }
  Result<ConfigureAnswer> send_configure(std::uint8_t flags, const StreamSettings& stream,
                                         const RequestSettings& settings,
                                         const std::function<void(const UnitSample&)>& late_sample);
  bool process_sample(UnitSample& sample) noexcept;
  void process_inertial() noexcept;
  void process_command_echo(const sample_report& report, UnitSample& sample) noexcept;
  void process_fault() noexcept;
  void count_ended_stream() noexcept;
  void process_clear_reply() noexcept;
  void continue_trip_clear() noexcept;
  void write_clear_request() noexcept;
  FinalSampleCounts finish_sample_counts(std::uint32_t samples_sent) noexcept;
  Error make_no_answer_error(const std::string& what, IoStatus status,
                             const RequestSettings& settings) const;

  Transport* transport_;
  MessageListener* tap_;
  FrameDecoder decoder_;
  std::array<std::uint8_t, 512> received_{};
  std::size_t received_begin_ = 0;
  std::size_t received_end_ = 0;
  Nanoseconds received_at_{0};

  UnitDescription facts_;
  bool connected_before_ = false;
  std::uint16_t request_sequence_ = 0;

  bool streaming_ = false;
  int stream_number_ = 0;        // the unit's number of the running stream
  int last_counted_stream_ = 0;  // last stream whose samples are all counted
  StreamSettings stream_;
  SampleTracker tracker_;
  int implausible_in_a_row_ = 0;
  std::int64_t last_unit_time_us_ = 0;
  bool sample_seen_ = false;
  InertialReadings inertial_;  // of the last sample, until the next one arrives
  std::uint64_t unit_error_count_ = 0;
  std::uint8_t unit_errors_seen_ = 0;

  std::uint64_t command_sequence_ = 0;  // of the last command written; 0: none
  std::uint64_t echoed_command_ = 0;    // of the newest command echoed by the unit; 0: none
  std::array<SentCommand, kCommandHistory> commands_{};

  ClearTripState clear_state_ = ClearTripState::kIdle;
  int clear_attempts_ = 0;
  std::uint8_t clear_step_ = 0;
  std::uint16_t clear_token_ = 0;
  std::uint8_t clear_fault_flags_ = 0;
  Nanoseconds clear_repeat_at_{0};

  UnitClockEstimator clock_;
  std::optional<UnitFault> last_fault_;
  LinkCounters counters_;
};

}  // namespace firmware_iface
