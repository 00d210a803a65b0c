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
Bytes message_of(const hello_head& head);
Bytes message_of(const describe_request& request);
Bytes message_of(const configure_request& request);
Bytes message_of(const clear_request& request);
Bytes message_of(const command_request& request, int motor_count);
Bytes compact_message_of(const command_request& request);

/// Returns a message with its CRC-32C appended. Unlike frame_encode it accepts any length and any
/// seed.
Bytes with_crc(Bytes message, std::uint32_t seed = LAYOUT_HASH);

/// Returns the COBS encoding of up to 254 bytes, with the delimiter of the frame appended.
Bytes stuffed(const Bytes& plain);

/// Returns the valid frame of a message.
Bytes frame_of(const Bytes& message);

struct Settings {
  double command = 0.0;  ///< value of enabled commands as a share of each motor's range, -1 to 1
  bool after_reset = false;  ///< the unit was reset and has received no HELLO since
};

// Exceptions that end a check early.
struct Failed {  ///< expected and actual behaviour of the unit
  std::string detail;
};
struct NotTested {
  std::string reason;
};
struct Interrupted {};
struct PortClosed {};

/// Settings of a sample stream that a check requests. By default commands may answer old samples,
/// so that a late host does not disturb checks of other requirements.
struct Stream {
  std::uint8_t flags = STREAM_ON;
  int divider = 0;  ///< 0: the smallest that the line supports
  int command_age_ticks = 255;
  std::array<std::uint8_t, INERTIAL_SENSORS_MAX> inertial_divider{};
};

struct Sample {
  std::int64_t number = 0;   ///< in its stream, from 0
  std::int64_t time_us = 0;  ///< unit clock at the latch, unwrapped since sample 0
  sample_report report{};

  bool is_tripped() const { return (report.status & STATUS_TRIPPED) != 0; }
  bool is_driving() const { return (report.status & STATUS_DRIVING) != 0; }
  bool has_rejected() const { return (report.status & STATUS_COMMAND_REJECTED) != 0; }
  bool has_seen_command() const { return (report.status & STATUS_COMMAND_SEEN) != 0; }
};

inline bool is_not_driving(const Sample& sample) { return !sample.is_driving(); }

struct Fault {
  fault_report report{};
  std::int64_t samples_before = 0;  ///< samples of the stream received before it
  std::int64_t time_us = 0;         ///< unit clock of the sample before it
};

struct Inertial {
  inertial_report report{};
  std::int64_t sample_number = -1;  ///< of the last received sample
};

/// Host of one unit that can violate the protocol on purpose, down to the single bytes of a frame.
/// It recomputes what it can instead of trusting the unit. Times are on the transport's clock.
class TestHost {
 public:
  TestHost(Transport& transport, const Settings& settings, const std::atomic<bool>& stop);

  const Settings& settings() const { return settings_; }
  Transport& transport() { return *transport_; }
  Nanoseconds now() const { return transport_->now(); }

  // --- Connecting ---

  /// Connects to the unit: listens, sends CONFIGURE too early on purpose, then sends HELLO and
  /// requests all descriptions.
  void connect();
  bool is_fresh() const { return is_fresh_; }  ///< the unit had received no HELLO since its reset
  const std::optional<configure_reply>& first_answer() const { return first_answer_; }
  const std::map<int, int>& messages_before_hello() const { return heard_before_hello_; }
  const hello_reply& first_facts() const { return first_facts_; }  ///< received in connect()
  const hello_reply& facts() const { return facts_; }
  int motor_count() const;  ///< at most MOTORS_MAX, whatever the unit reports
  const std::array<part_description, ENCODERS_MAX>& encoders() const { return encoders_; }
  const std::array<part_description, MOTORS_MAX>& motors() const { return motors_; }

  // --- Time ---

  double tick_us() const;
  Nanoseconds ticks(double count) const;
  int time_to_live_ms(int wanted_ms) const;  ///< wanted_ms, or less if the unit accepts less
  /// Returns the smallest divider at which the line is fast enough for a stream with these flags.
  int smallest_divider(std::uint8_t flags, int inertial_count = 0) const;

  // --- Bytes and messages ---

  void write(const Bytes& bytes);
  void send(const Bytes& message);  ///< as a frame, after a zero byte

  /// Returns the next good message after processing it; nullopt if none arrives by the deadline.
  std::optional<Bytes> next(Nanoseconds deadline);
  void wait(Nanoseconds duration);

  /// Sends the message, repeatedly if needed, until a reply of the given type matches; returns it.
  Bytes request(const std::string& name, const Bytes& message, std::uint8_t reply_type,
                const std::function<bool(const Bytes&)>& matches = {});

  /// Returns the number of good messages of a type since the last begin().
  int count_of(std::uint8_t type) const;
  Nanoseconds last_reply_time() const { return reply_time_; }

  // --- Requests ---

  hello_reply hello();
  describe_reply describe(std::uint8_t part, std::uint8_t index);
  /// Sends a CONFIGURE with a new sequence number and returns the reply.
  configure_reply configure(const Stream& stream);
  configure_request configure_request_of(const Stream& stream);
  configure_reply request_configure(const configure_request& request);
  clear_reply clear(std::uint8_t step, std::uint16_t token);

  // --- Start of every check ---

  /// Sends HELLO, which ends the stream and switches the output off. Clears the received messages.
  void begin();
  /// Calls begin() and starts a stream. Throws if the unit refuses CONFIGURE.
  configure_reply begin_stream(const Stream& stream = {});
  void clear_trip();
  /// Calls begin_stream() and clear_trip().
  void begin_armed(const Stream& stream = {});

  // --- Samples ---

  Sample next_sample();
  void skip_samples(int count);
  const std::optional<Sample>& last_sample() const { return last_; }
  /// Reads and returns the samples that arrive during `duration`.
  std::vector<Sample> samples_for(Nanoseconds duration);
  /// Reads samples until one satisfies the condition and returns it. Throws Failed with `expected`
  /// if none of samples_max samples does.
  Sample sample_until(const std::function<bool(const Sample&)>& condition,
                      const std::string& expected, int samples_max = 200);
  const std::vector<Fault>& faults() const { return faults_; }
  const std::vector<Inertial>& inertial() const { return inertial_; }
  int divider() const { return divider_; }

  // --- Commands ---

  /// Sends a COMMAND, or COMMAND_COMPACT in a compact stream. Returns the command's sequence
  /// number.
  std::uint16_t command(std::uint8_t flags, std::int64_t answers, int ttl_ms = 0);
  void skip_command_sequences(int count);
  command_request command_of(std::uint8_t flags, std::int64_t answers, int ttl_ms);
  std::int16_t command_q15(int motor) const;  ///< value of enabled commands
  /// Answers each sample with an enabled command until a sample reports DRIVING.
  Sample drive(int ttl_ms);
  /// Switches the output off without a trip.
  void idle();
  /// Sends COMMAND_TRIP until a sample is tripped.
  void trip();

  // --- Whole session ---

  /// Stores the first violation of an overall requirement.
  void note_violation(const std::string& id, const std::string& detail);
  const std::map<std::string, std::string>& violations() const { return violations_; }
  std::uint64_t samples_received() const { return samples_received_; }
  /// Returns the number of samples in which an encoder was valid.
  std::uint64_t valid_samples(std::size_t encoder) const { return valid_samples_[encoder]; }
  std::uint64_t frames_received() const { return decoder_.counters().good; }
  /// Returns the largest delay of this computer since begin(), which is not the unit's fault.
  Nanoseconds lateness() const { return lateness_; }
  /// Switches the output off and trips the unit. Returns false if the unit does not confirm it.
  bool finish();

 private:
  bool read(Nanoseconds deadline);
  void take(const Bytes& message, Nanoseconds at);
  void take_sample(const Bytes& message, Nanoseconds at);
  void judge_sample(const Sample& sample, bool is_compact);
  void take_configure_reply(const Bytes& message);
  sample_shape shape() const;

  Transport* transport_;
  Settings settings_;
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
  std::optional<Sample> last_;
  std::uint64_t samples_received_ = 0;
  std::uint64_t samples_before_ = 0;  // at the last begin()
  std::vector<Fault> faults_;
  std::vector<Inertial> inertial_;
  std::optional<Nanoseconds> least_delay_;  // from latch to reading, in this stream
  Nanoseconds lateness_{0};

  std::map<std::string, std::string> violations_;
  std::array<std::uint64_t, ENCODERS_MAX> valid_samples_{};
};

/// Returns the names of the set flags: "FAULT_BOOT, FAULT_TTL"; "none" if no flag is set.
std::string fault_names(unsigned fault_flags);
std::string status_names(unsigned status);

}  // namespace firmware_iface::conformance
