// Faults of frames and sessions.

#include <memory>

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware_iface/fault_hooks.hpp"
#include "tests/firmware_iface/planted_faults.hpp"

namespace firmware_iface {

using namespace fault_hooks;

std::vector<PlantedFault> faults_of_frames() {
  return {
      {"F4", "accepts CRCs with the seed of another layout", before_frame([](unit&, Bytes& frame) {
         const auto message = message_in(frame);
         if (message &&
             crc_in(frame) == crc32c(LAYOUT_HASH ^ 1U, message->data(), message->size())) {
           put(frame, *message);
         }
         return true;
       })},
      {"F5a", "compares three bytes of the CRC", before_frame([](unit&, Bytes& frame) {
         const auto message = message_in(frame);
         if (!message) return true;
         const std::uint32_t right = crc32c(LAYOUT_HASH, message->data(), message->size());
         if (((crc_in(frame) ^ right) & 0xFFFFFFU) == 0) put(frame, *message);
         return true;
       })},
      {"F5b", "takes a CLEAR with a byte too many", before_frame([](unit&, Bytes& frame) {
         auto message = message_in(frame);
         if (message && message->size() == CLEAR_SIZE_BYTES + 1 && (*message)[0] == MESSAGE_CLEAR) {
           message->pop_back();
           put(frame, *message);
         }
         return true;
       })},
      {"F5c", "does not count frames with wrong stuffing", before_frame([](unit&, Bytes& frame) {
         return frame.empty() || frame.size() > 50 || plain_of(frame).has_value();
       })},
      {"F5d", "does not count frames of unknown types", before_frame([](unit&, Bytes& frame) {
         const auto message = message_in(frame);
         return !message || message_type_is_known((*message)[0]) ||
                crc_in(frame) != crc32c(LAYOUT_HASH, message->data(), message->size());
       })},
      {"F5e", "counts a long run once for each 104 bytes",
       before_frame([](unit& core, Bytes& frame) {
         core.counters.frames_damaged += static_cast<std::uint32_t>(frame.size() / 105);
         return true;
       })},
      {"F6a", "counts each zero byte after the first as an error",
       before_frame([](unit& core, Bytes& frame) {
         if (frame.empty()) ++core.counters.frames_damaged;
         return true;
       })},
      {"F6b", "reads frames within one tick alone",
       [](BoardFault& fault) { fault.forgets_at_tick = true; }},
      {"F6c", "stops reading after ten long runs of garbage",
       before_frame([runs = 0](unit&, Bytes& frame) mutable {
         runs += frame.size() > 60 ? 1 : 0;
         if (frame.size() == HELLO_SIZE_BYTES + 5) runs = 0;
         return runs < 10;
       })},
      {"F7a", "trips when FAULT is sent to it", after_message([](unit& core, const Bytes& message) {
         if (message[0] == MESSAGE_FAULT) unit_trip(&core, FAULT_INTERNAL, 0, core.next_tick_us);
       })},
      {"F7b", "takes a COMMAND for two motors", before_message([](unit&, Bytes& message) {
         if (message[0] == MESSAGE_COMMAND && message.size() == COMMAND_HEAD_SIZE_BYTES + 4) {
           message.resize(COMMAND_HEAD_SIZE_BYTES + 2);
         }
       })},
      {"F9", "prints text when it refuses a CONFIGURE",
       [](BoardFault& fault) { fault.banner = "unsupported\r\n"; }},
      {"M2a", "takes an unknown flag of COMMAND for COMMAND_TRIP",
       on_command([](unit&, command_request& command) {
         if ((command.flags & 0x40) != 0) command.flags = COMMAND_TRIP;
       })},
      {"M2b", "sets a status bit that nobody knows", on_sample([](unit&, Bytes& message) {
         message[kSampleStatus] = static_cast<std::uint8_t>(message[kSampleStatus] | 0x40U);
       })},
  };
}

std::vector<PlantedFault> faults_of_sessions() {
  // Drops a HELLO with such a header.
  const auto drops_hello = [](std::function<bool(const hello_head&, std::size_t)> is_dropped) {
    return before_frame([is_dropped](unit&, Bytes& frame) {
      const auto message = message_in(frame);
      hello_head head{};
      return !message || (*message)[0] != MESSAGE_HELLO ||
             !hello_head_decode(message->data(), message->size(), &head) ||
             message->size() > HELLO_REPLY_SIZE_BYTES_MAX || !is_dropped(head, message->size());
    });
  };
  return {
      {"H1", "streams before the first HELLO", after_tick([](unit& core) {
         if (!core.has_session) core.sample_is_due = true;
       })},
      {"H2", "answers CLEAR after 60 ms",
       [](BoardFault& fault) {
         const auto ticks = std::make_shared<int>(0);
         fault.after_tick = [ticks](unit& core) {
           // As if a CLEAR had arrived then.
           if (*ticks == 0 || --*ticks > 0) return;
           const Bytes frame = conformance::make_frame(encode_message(clear_request{1, 0}));
           for (const std::uint8_t byte : frame) unit_receive(&core, byte, core.next_tick_us);
         };
         fault.before_frame = [ticks](unit&, Bytes& frame) {
           const auto message = message_in(frame);
           const bool is_delayed = message && *message == encode_message(clear_request{1, 0}) &&
                                   crc_in(frame) == crc32c(LAYOUT_HASH, message->data(), 4);
           if (is_delayed) *ticks = 60;
           return !is_delayed;
         };
       }},
      {"H3a", "ignores HELLO with nonce 0",
       drops_hello([](const hello_head& head, std::size_t) { return head.nonce == 0; })},
      {"H3b", "ignores a HELLO that is longer than its own",
       drops_hello([](const hello_head&, std::size_t size_bytes) { return size_bytes > 8; })},
      {"H3b", "ignores HELLO of another version",
       drops_hello([](const hello_head& head, std::size_t) {
         return head.protocol_version != PROTOCOL_VERSION;
       })},
      {"H3c", "ignores HELLO of another layout",
       drops_hello(
           [](const hello_head& head, std::size_t) { return head.layout_hash != LAYOUT_HASH; })},
      {"H3d", "sends ten more samples after HELLO",
       [](BoardFault& fault) {
         const auto rest = std::make_shared<int>(0);
         fault.before_message = [rest](unit& core, Bytes& message) {
           if (message[0] == MESSAGE_HELLO) *rest = core.is_streaming ? 10 : 0;
           if (message[0] == MESSAGE_CONFIGURE) *rest = 0;
         };
         fault.after_tick = [rest](unit& core) {
           if (*rest == 0) return;
           --*rest;
           core.sample_is_due = true;
         };
       }},
      {"H3e", "switches off at HELLO without a trip",
       before_message([](unit& core, Bytes& message) {
         if (message[0] != MESSAGE_HELLO) return;
         core.ttl_runs = false;
         core.output.is_enabled = false;
       })},
      {"H4",
       "claims a capability that nobody knows",
       {},
       [](unit_description& board) {
         board.capabilities = static_cast<std::uint8_t>(board.capabilities | 0x80U);
       }},
      {"H5", "reports one sample too few in HELLO_REPLY",
       on_reply(MESSAGE_HELLO_REPLY,
                [](unit&, Bytes& message) {
                  put_u32(message.data() + kHelloSamples,
                          get_u32(message.data() + kHelloSamples) - 1U);
                })},
      {"H6a",
       "describes an encoder with a flag that nobody knows",
       {},
       [](unit_description& board) { board.encoder[0].flags = 0x80; }},
      {"H6b", "describes parts that it does not have",
       on_reply(MESSAGE_DESCRIBE_REPLY,
                [](unit&, Bytes& message) {
                  if (message[3] == PART_MISSING) message[3] = ENCODER_COUNTER;
                })},
      {"H7", "needs no HELLO", {}, {}, [](unit& core) { core.has_session = true; }},
      {"H8a", "ignores flags of CONFIGURE that it does not know",
       on_configure([](unit&, configure_request& request) { request.flags &= 0x0FU; })},
      {"H8b", "takes divider 0 for 1", on_configure([](unit&, configure_request& request) {
         if (request.divider == 0) request.divider = 1;
       })},
      {"H8c", "takes command_age_ticks 0 for 10",
       on_configure([](unit&, configure_request& request) {
         if (request.command_age_ticks == 0) request.command_age_ticks = 10;
       })},
      {"H8d", "ignores dividers of inertial sensors that it does not have",
       on_configure([](unit&, configure_request& request) { request.inertial_divider[2] = 0; })},
      {"H9", "stops the stream at a CONFIGURE that it refuses",
       on_configure([](unit& core, configure_request& request) {
         if ((request.flags & 0x80) != 0) core.is_streaming = false;
       })},
      {"H9", "reports the divider that it refuses",
       on_reply(MESSAGE_CONFIGURE_REPLY,
                [](unit&, Bytes& message) {
                  if (message[3] == CONFIGURE_UNSUPPORTED) message[kConfigureDivider] = 7;
                })},
      {"H10a", "reports one sample too many in CONFIGURE_REPLY",
       on_reply(MESSAGE_CONFIGURE_REPLY,
                [](unit&, Bytes& message) {
                  const std::uint32_t sent = get_u32(message.data() + kConfigureSamples);
                  if (sent > 0) put_u32(message.data() + kConfigureSamples, sent + 1U);
                })},
      {"H10b", "counts each stream twice", on_configure([](unit& core, configure_request& request) {
         const bool is_repeated =
             core.is_configured && core.configure_answer.sequence == request.sequence;
         if (!is_repeated && core.is_streaming && (request.flags & 0x80) == 0) {
           ++core.memory.stream_count;
         }
       })},
      {"H10c", "changes the stream while driving without a trip",
       on_configure([](unit& core, configure_request&) {
         core.ttl_runs = false;
         core.output.is_enabled = false;
       })},
      {"H11a", "starts the stream again at a CONFIGURE that is repeated after ten samples",
       on_configure([](unit& core, configure_request&) {
         if (core.stream_samples > 10) core.is_configured = false;
       })},
      {"H11b", "forgets what it carried out at a CONFIGURE that it refuses",
       on_configure([](unit& core, configure_request& request) {
         if ((request.flags & 0x80) != 0) core.is_configured = false;
       })},
      {"H12", "has a configuration_hash of its own",
       on_reply(MESSAGE_HELLO_REPLY, [](unit&, Bytes& message) { message[kHelloHash] ^= 1U; })},
  };
}

std::vector<PlantedFault> planted_faults() {
  std::vector<PlantedFault> faults;
  for (const auto& part : {faults_of_frames(), faults_of_sessions(), faults_of_samples(),
                           faults_of_commands(), faults_of_trips()}) {
    faults.insert(faults.end(), part.begin(), part.end());
  }
  return faults;
}

}  // namespace firmware_iface
