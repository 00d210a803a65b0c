#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/transport/transport.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

namespace firmware_iface::conformance {

using Bytes = std::vector<std::uint8_t>;

// Messages, starting with the type byte.
Bytes encode_message(const hello_head& head);
Bytes encode_message(const describe_request& request);
Bytes encode_message(const configure_request& request);
Bytes encode_message(const clear_request& request);
Bytes encode_message(const command_request& request, int motor_count);
Bytes encode_compact_message(const command_request& request);

/// Returns a message with its CRC-32C appended. Unlike frame_encode, accepts any message length and
/// any CRC seed.
Bytes append_crc(Bytes message, std::uint32_t seed = LAYOUT_HASH);

/// Returns the COBS encoding of up to 254 bytes, followed by the delimiter (zero byte) of the
/// frame.
Bytes encode_cobs_frame(const Bytes& plain);

/// Returns the valid frame of a message.
Bytes make_frame(const Bytes& message);

struct TestSettings {
  double command = 0.0;  ///< value of enabled commands as a share of each motor's range, -1 to 1
  bool after_reset = false;  ///< the unit was reset and has received no HELLO since
};

// Exceptions that end a check early.
struct CheckFailed {  ///< expected and actual behaviour of the unit
  std::string detail;
};
struct CheckNotTested {
  std::string reason;
};
struct TestInterrupted {};
struct PortClosed {};

/// Settings of a sample stream that a conformance check requests. By default the unit accepts
/// commands that answer old samples, so that a late host does not disturb checks of other
/// requirements.
struct RequestedStream {
  std::uint8_t flags = STREAM_ON;
  int divider = 0;  ///< 0: the smallest that the line supports
  int command_age_ticks = 255;
  std::array<std::uint8_t, INERTIAL_SENSORS_MAX> inertial_divider{};
};

struct ReceivedSample {
  std::int64_t number = 0;   ///< in its stream, from 0
  std::int64_t time_us = 0;  ///< unit clock at the latch, unwrapped since sample 0
  sample_report report{};

  bool is_tripped() const { return (report.status & STATUS_TRIPPED) != 0; }
  bool is_driving() const { return (report.status & STATUS_DRIVING) != 0; }
  bool has_rejected() const { return (report.status & STATUS_COMMAND_REJECTED) != 0; }
  bool has_seen_command() const { return (report.status & STATUS_COMMAND_SEEN) != 0; }
};

inline bool is_not_driving(const ReceivedSample& sample) { return !sample.is_driving(); }

struct ReceivedFault {
  fault_report report{};
  std::int64_t samples_before = 0;  ///< samples of the stream received before it
  std::int64_t time_us = 0;         ///< unit clock of the sample before it
};

struct ReceivedInertialReadings {
  inertial_report report{};
  std::int64_t sample_number = -1;  ///< of the last received sample
};

/// Host of one conversion unit for conformance tests. It can violate the protocol on purpose, even
/// in single bytes of a frame. Instead of trusting the unit, it recomputes reported values if
/// possible. Times are on the transport's clock.
class TestHost {
 public:
  TestHost(Transport& transport, const TestSettings& settings, const std::atomic<bool>& stop);

  const TestSettings& settings() const { return settings_; }
  Transport& transport() { return *transport_; }
  Nanoseconds now() const { return transport_->now(); }

  // --- Connecting ---

  /// Connects to the unit: listens for messages, sends CONFIGURE too early on purpose, then sends
  /// HELLO and requests the descriptions of all encoders and motors.
  void connect();
  bool is_freshly_reset() const {
    return is_fresh_;
  }  ///< the unit had received no HELLO since its reset
  const std::optional<configure_reply>& first_configure_reply() const { return first_answer_; }
  const std::map<int, int>& message_counts_before_hello() const { return heard_before_hello_; }
  const hello_reply& first_hello_reply() const { return first_facts_; }  ///< received in connect()
  const hello_reply& facts() const { return facts_; }
  int motor_count() const;  ///< at most MOTORS_MAX, whatever the unit reports
  const std::array<part_description, ENCODERS_MAX>& encoders() const { return encoders_; }
  const std::array<part_description, MOTORS_MAX>& motors() const { return motors_; }

  // --- Time ---

  double tick_period_us() const;
  Nanoseconds ticks(double count) const;
  int time_to_live_ms(int wanted_ms) const;  ///< wanted_ms, or less if the unit accepts less
  /// Returns the smallest number of ticks per sample at which the line is fast enough for a stream
  /// with these flags.
  int smallest_sample_divider(std::uint8_t flags, int inertial_count = 0) const;

  // --- Bytes and messages ---

  void write(const Bytes& bytes);
  void send(const Bytes& message);  ///< as a frame, after a zero byte

  /// Returns the next valid message after processing it; nullopt if no message arrives by the
  /// deadline.
  std::optional<Bytes> next(Nanoseconds deadline);
  void wait(Nanoseconds duration);

  /// Sends a request, repeatedly if needed, until a reply of the given type matches. Returns the
  /// reply.
  Bytes send_request(const std::string& name, const Bytes& message, std::uint8_t reply_type,
                     const std::function<bool(const Bytes&)>& matches = {});

  /// Returns the number of valid messages of one type that were received since the last call of
  /// begin().
  int received_message_count(std::uint8_t type) const;
  Nanoseconds last_reply_time() const { return reply_time_; }

  // --- Requests ---

  hello_reply hello();
  describe_reply request_description(std::uint8_t part, std::uint8_t index);
  /// Sends a CONFIGURE with a new sequence number and returns the reply.
  configure_reply send_configure(const RequestedStream& stream);
  configure_request make_configure_request(const RequestedStream& stream);
  configure_reply send_configure_request(const configure_request& request);
  clear_reply clear(std::uint8_t step, std::uint16_t token);

  // --- Start of every check ---

  /// Prepares the unit for a check: sends HELLO, which ends the sample stream and switches the
  /// output off. Forgets the received messages.
  void begin();
  /// Calls begin() and starts a sample stream. Throws CheckFailed if the unit refuses CONFIGURE.
  configure_reply begin_stream(const RequestedStream& stream = {});
  void clear_trip();
  /// Calls begin_stream() and clear_trip().
  void begin_with_cleared_trip(const RequestedStream& stream = {});

  // --- Samples ---

  ReceivedSample next_sample();
  void skip_samples(int count);
  const std::optional<ReceivedSample>& last_sample() const { return last_; }
  /// Reads and returns the samples that arrive during `duration`.
  std::vector<ReceivedSample> read_samples_for(Nanoseconds duration);
  /// Reads samples until one satisfies the condition and returns it. Throws CheckFailed with
  /// `expected` if none of samples_max samples does.
  ReceivedSample read_sample_until(const std::function<bool(const ReceivedSample&)>& condition,
                                   const std::string& expected, int samples_max = 200);
  const std::vector<ReceivedFault>& received_faults() const { return faults_; }
  const std::vector<ReceivedInertialReadings>& received_inertial() const { return inertial_; }
  int sample_divider() const { return divider_; }

  // --- Commands ---

  /// Sends a COMMAND, or COMMAND_COMPACT in a compact stream. Returns the command's sequence
  /// number.
  std::uint16_t send_command(std::uint8_t flags, std::int64_t answers, int ttl_ms = 0);
  void skip_command_numbers(int count);
  command_request make_command(std::uint8_t flags, std::int64_t answers, int ttl_ms);
  std::int16_t command_q15(int motor) const;  ///< value of enabled commands
  /// Answers each sample with an enabled command until a sample reports that the unit drives.
  ReceivedSample drive(int ttl_ms);
  /// Switches the output off without a trip.
  void idle();
  /// Sends COMMAND_TRIP until a sample reports that the unit is tripped.
  void trip();

  // --- Whole session ---

  /// Stores the first violation of each requirement that all messages must meet; ignores further
  /// violations of the same requirement.
  void record_violation(const std::string& id, const std::string& detail);
  const std::map<std::string, std::string>& violations() const { return violations_; }
  std::uint64_t received_sample_count() const { return samples_received_; }
  /// Returns the number of samples in which an encoder was valid.
  std::uint64_t valid_sample_count(std::size_t encoder) const { return valid_samples_[encoder]; }
  std::uint64_t received_frame_count() const { return decoder_.counters().good; }
  /// Returns the largest delay that this computer, not the unit, has caused since the last call of
  /// begin().
  Nanoseconds host_delay_max() const { return lateness_; }
  /// Switches the output off and trips the unit. Returns false if the unit does not confirm it.
  bool finish();

 private:
  bool read(Nanoseconds deadline);
  void take(const Bytes& message, Nanoseconds at);
  void process_sample(const Bytes& message, Nanoseconds at);
  void check_sample(const ReceivedSample& sample, bool is_compact);
  void process_configure_reply(const Bytes& message);
  sample_shape shape() const;

  Transport* transport_;
  TestSettings settings_;
  const std::atomic<bool>* stop_;
  bool is_finishing_ = false;
  FrameDecoder decoder_;
  std::array<std::uint8_t, 512> received_{};
  std::size_t received_begin_ = 0;
  std::size_t received_end_ = 0;

  bool is_fresh_ = false;
  bool is_connected_ = false;
  std::uint64_t damaged_before_ = 0;  // damaged frames before the first HELLO_REPLY
  std::optional<configure_reply> first_answer_;
  std::map<int, int> heard_before_hello_;  // number of messages by type
  hello_reply first_facts_{};
  hello_reply facts_{};
  std::array<part_description, ENCODERS_MAX> encoders_{};
  std::array<part_description, MOTORS_MAX> motors_{};
  bool is_described_ = false;

  std::uint16_t nonce_ = 0x5A01;
  std::uint16_t configure_sequence_ = 0x4C00;
  std::uint16_t command_sequence_ = 100;
  Nanoseconds reply_time_{0};
  std::map<int, int> counts_;

  std::optional<configure_request> pending_configure_;  // sent and not answered yet
  bool is_streaming_ = false;
  std::uint8_t stream_flags_ = 0;
  int divider_ = 1;
  std::optional<ReceivedSample> last_;
  std::uint64_t samples_received_ = 0;
  std::uint64_t samples_before_ = 0;  // at the last begin()
  std::vector<ReceivedFault> faults_;
  std::vector<ReceivedInertialReadings> inertial_;
  std::optional<Nanoseconds> least_delay_;  // from latch to reading, in this stream
  Nanoseconds lateness_{0};

  std::map<std::string, std::string> violations_;
  std::array<std::uint64_t, ENCODERS_MAX> valid_samples_{};
};

/// Returns the names of the set fault flags, such as "FAULT_BOOT, FAULT_TTL"; "none" if no flag is
/// set.
std::string fault_names(unsigned fault_flags);
std::string status_names(unsigned status);

}  // namespace firmware_iface::conformance
