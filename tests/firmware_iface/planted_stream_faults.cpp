// Faults of samples, commands and trips.

#include <algorithm>
#include <memory>

#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware_iface/fault_hooks.hpp"
#include "tests/firmware_iface/planted_faults.hpp"

namespace firmware_iface {

using namespace fault_hooks;

std::vector<PlantedFault> faults_of_samples() {
  return {
      {"T1", "has a clock that is 2 % slow", [](BoardFault& fault) { fault.tick_length = 1.02; }},
      {"T3a", "starts a tick later than it reports",
       on_reply(MESSAGE_CONFIGURE_REPLY,
                [](unit&, Bytes& message) {
                  const std::uint32_t start_us = get_u32(message.data() + kConfigureStart);
                  if (message[3] == CONFIGURE_DONE)
                    put_u32(message.data() + kConfigureStart, start_us - 1000);
                })},
      {"T3b", "divides by 8 for a divider of 7", after_message([](unit& core, const Bytes&) {
         if (core.divider == 7) core.divider = 8;
       })},
      {"T3b", "has a clock that jumps by half a tick", on_sample([](unit& core, Bytes& message) {
         if (core.divider != 7 || core.stream_samples % 16 != 9) return;
         put_u32(message.data() + 3, get_u32(message.data() + 3) + 500U);
       })},
      {"T5", "loses sample 500",
       on_sending(MESSAGE_SAMPLE, [](unit& core, Bytes&) { return core.stream_samples != 501; })},
      {"T7", "echoes the sequence after that of the COMMAND", on_sample([](unit&, Bytes& message) {
         put_u16(message.data() + kSampleEcho,
                 static_cast<std::uint16_t>(get_u16(message.data() + kSampleEcho) + 1U));
       })},
      {"T6", "reports an output while it is off", on_sample([](unit& core, Bytes& message) {
         if (!core.output.is_enabled) message[kSampleFirstMotor] = 1;
       })},
      {"T8a", "reports FAULT_SESSION without STATUS_TRIPPED",
       on_sample([](unit& core, Bytes& message) {
         if (core.fault_flags == FAULT_SESSION) message[kSampleStatus] &= 0xFEU;
       })},
      {"T8b", "forgets the cause before when it trips again",
       [](BoardFault& fault) {
         const auto before = std::make_shared<std::uint8_t>(0);
         fault.before_message = [before](unit& core, Bytes&) { *before = core.fault_flags; };
         fault.after_message = [before](unit& core, const Bytes&) {
           const unsigned added = core.fault_flags & ~unsigned{*before};
           if (added != 0) core.fault_flags = static_cast<std::uint8_t>(added);
         };
       }},
      {"T9a", "sends samples of a host-paced stream by its timer", after_tick([](unit& core) {
         core.sample_is_due = core.sample_is_due ||
                              (core.is_streaming && (core.stream_flags & STREAM_HOST_PACED) != 0);
       })},
      {"T9b", "lets no time to live run out in a host-paced stream",
       after_message([](unit& core, const Bytes&) {
         if ((core.stream_flags & STREAM_HOST_PACED) != 0) core.ttl_runs = false;
       })},
      {"E1", "reports counts beyond the modulus as valid", on_sample([](unit&, Bytes& message) {
         put_u32(message.data() + kSampleFirstMotor + 2 + 4, 8192);
       })},
      {"E2a", "reports a valid encoder that it does not have",
       on_sample([](unit&, Bytes& message) { message[kSampleValid] |= 0x20U; })},
      {"E2b", "never reads an encoder", before_sending([](unit&, Bytes& message) {
         if (message[0] == MESSAGE_SAMPLE) message[kSampleValid] &= 0xFDU;
         if (message[0] == MESSAGE_SAMPLE_COMPACT) message[kCompactValid] &= 0xFDU;
         return true;
       })},
      {"E6", "reports the index pulse of an encoder without one",
       on_sample([](unit& core, Bytes& message) {
         if ((core.stream_flags & STREAM_MARKS) != 0) message[message.size() - 4] = 2;
       })},
      {"I1", "sends inertial readings with samples where they are not due",
       on_reply(
           MESSAGE_INERTIAL,
           [](unit&, Bytes& message) { message[1] = static_cast<std::uint8_t>(message[1] + 1U); })},
      {"K1",
       "has the compact format with an encoder of 25 bits",
       {},
       [](unit_description& board) { board.encoder[0].modulus = 1U << 25U; }},
      {"K2", "loses compact sample 250",
       on_sending(MESSAGE_SAMPLE_COMPACT,
                  [](unit& core, Bytes&) { return core.stream_samples != 251; })},
      {"K3", "ignores COMMAND_COMPACT in a compact stream",
       before_message([](unit& core, Bytes& message) {
         if (message[0] != MESSAGE_COMMAND_COMPACT) return;
         if ((core.stream_flags & STREAM_COMPACT) != 0)
           message = encode_message(describe_request{0, 0});
       })},
      {"K4", "ignores COMMAND_COMPACT in a stream of SAMPLE",
       before_message([](unit& core, Bytes& message) {
         if (message[0] != MESSAGE_COMMAND_COMPACT) return;
         if ((core.stream_flags & STREAM_COMPACT) == 0)
           message = encode_message(describe_request{0, 0});
       })},
  };
}

std::vector<PlantedFault> faults_of_commands() {
  return {
      {"C1a", "lets the time to live run on after an idle COMMAND",
       [](BoardFault& fault) {
         const auto was_running = std::make_shared<bool>(false);
         fault.before_message = [was_running](unit& core, Bytes&) { *was_running = core.ttl_runs; };
         fault.after_message = [was_running](unit& core, const Bytes& message) {
           if (message[0] == MESSAGE_COMMAND && !unit_is_tripped(&core)) {
             core.ttl_runs = core.ttl_runs || *was_running;
           }
         };
       }},
      {"C1b", "ignores idle COMMANDs that answer an old sample",
       on_command([](unit& core, command_request& command) {
         if (command.flags == 0 && core.ttl_runs && command.answers + 50 < newest(core)) {
           command.flags = COMMAND_ENABLE;
           command.ttl_ms = 1;
         }
       })},
      {"C2a", "ignores COMMAND_TRIP that answers a sample not sent yet",
       on_command([](unit& core, command_request& command) {
         if (command.flags == COMMAND_TRIP && command.answers > newest(core)) command.flags = 0;
       })},
      {"C2b", "only idles at COMMAND_TRIP while it drives",
       on_command([](unit& core, command_request& command) {
         if (command.flags == COMMAND_TRIP && core.output.is_enabled &&
             command.answers <= newest(core)) {
           command.flags = 0;
         }
       })},
      {"C3a", "takes ttl_ms 0 for 50", on_command([](unit&, command_request& command) {
         if (command.ttl_ms == 0) command.ttl_ms = 50;
       })},
      {"C3b", "takes its longest time to live for longer ones",
       on_command([](unit& core, command_request& command) {
         command.ttl_ms = std::min(command.ttl_ms, core.description.ttl_max_ms);
       })},
      {"C4.1a", "accepts a COMMAND that answers a sample not sent yet",
       on_command([](unit& core, command_request& command) {
         if (command.answers != 0xFFFFFFFF && command.answers > newest(core)) {
           command.answers = newest(core);
         }
       })},
      {"C4.1b", "accepts a COMMAND that answers the sample before number 0",
       on_command([](unit& core, command_request& command) {
         if (command.answers == 0xFFFFFFFF && command.flags == COMMAND_ENABLE) {
           command.answers = newest(core);
         }
       })},
      {"C4.1c", "drives without a stream", after_message([](unit& core, const Bytes& message) {
         if (message[0] != MESSAGE_COMMAND || core.is_streaming) return;
         core.output.is_enabled = !unit_is_tripped(&core);
       })},
      {"C4.2a", "allows an age of one tick more",
       after_message([](unit& core, const Bytes& message) {
         if (message[0] == MESSAGE_CONFIGURE && core.command_age_ticks < 255) {
           ++core.command_age_ticks;
         }
       })},
      {"C4.2b", "rejects COMMANDs of exactly the age allowed",
       after_message([](unit& core, const Bytes& message) {
         if (message[0] == MESSAGE_CONFIGURE) --core.command_age_ticks;
       })},
      {"C4.2c", "takes a sample for one 256 samples later",
       on_command([](unit& core, command_request& command) {
         if (enables(command) && command.answers + 260 < newest(core) + 5 &&
             command.answers + 300 > newest(core)) {
           command.answers += 256;
         }
       })},
      {"C4.4b", "accepts one COMMAND for each sample",
       on_command([](unit& core, command_request& command) {
         if (enables(command) && core.has_answered && command.answers == core.answered) {
           command.answers = 0xFFFFFFF0;
         }
       })},
      {"C4.3", "accepts COMMANDs whose time to live has run out",
       on_command([](unit& core, command_request& command) {
         if (!enables(command) || command.answers > newest(core)) return;
         if (newest(core) - command.answers > 100) return;
         const std::uint64_t age_us =
             latch_us(core, newest(core)) - latch_us(core, command.answers);
         if (command.ttl_ms > 0 && age_us >= 1000U * command.ttl_ms) command.answers = newest(core);
       })},
      {"C4.4a", "accepts COMMANDs that answer an earlier sample",
       on_command([](unit& core, command_request&) { core.has_answered = false; })},
      {"C5", "prolongs the time to live with COMMANDs that it rejects",
       after_message([](unit& core, const Bytes&) {
         if (core.command_rejected && core.ttl_runs) core.ttl_end_us += 1000;
       })},
      {"C6", "lets the first time to live run out while COMMANDs come",
       [](BoardFault& fault) {
         const auto end_us = std::make_shared<std::uint64_t>(0);
         fault.before_message = [end_us](unit& core, Bytes&) {
           *end_us = core.ttl_runs ? core.ttl_end_us : 0;
         };
         fault.after_message = [end_us](unit& core, const Bytes&) {
           if (core.ttl_runs && *end_us != 0) core.ttl_end_us = *end_us;
         };
       }},
      {"C8", "counts the time to live from the arrival of the COMMAND",
       after_message([](unit& core, const Bytes& message) {
         if (message[0] != MESSAGE_COMMAND || !core.ttl_runs || !core.has_pending) return;
         core.ttl_end_us += latch_us(core, newest(core)) - latch_us(core, core.answered);
       })},
      {"C8", "ends the time to live a tick late",
       after_message([](unit& core, const Bytes& message) {
         if (message[0] == MESSAGE_COMMAND && core.has_pending) core.ttl_end_us += 1;
       })},
      {"C9",
       "puts out half of what is commanded",
       after_tick([](unit& core) { core.output.command_q15[0] /= 2; }),
       {},
       {},
       {.command = 0.05, .after_reset = true}},
      {"C9",
       "swaps two motors",
       after_tick([](unit& core) {
         if (core.has_pending || !core.output.is_enabled) return;
         std::int16_t* q15 = core.output.command_q15;
         if (q15[0] < q15[1]) std::swap(q15[0], q15[1]);
       }),
       [](unit_description& board) {
         board.motor_count = 2;
         board.motor[1] = {MOTOR_DUTY, 0, 1000, 0};
         board.capabilities = UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS;
       },
       {},
       {.command = 0.05, .after_reset = true}},
  };
}

std::vector<PlantedFault> faults_of_trips() {
  return {
      {"S2a", "starts without a trip", {}, {}, [](unit& core) { core.fault_flags = 0; }},
      {"S2b", "drives while it is tripped",
       [](BoardFault& fault) {
         const auto is_asked = std::make_shared<bool>(false);
         fault.after_message = [is_asked](unit& core, const Bytes& message) {
           command_request command{};
           if (!command_request_decode(message.data(), message.size(), 1, &command)) return;
           *is_asked = enables(command) && command.ttl_ms > 0 && command.ttl_ms <= 100 &&
                       core.fault_flags == FAULT_HOST;
         };
         fault.after_tick = [is_asked](unit& core) {
           core.output.is_enabled =
               core.output.is_enabled || (*is_asked && core.fault_flags == FAULT_HOST);
         };
       }},
      {"S5", "sends no FAULT", on_sending(MESSAGE_FAULT, [](unit&, Bytes&) { return false; })},
      {"S5", "reports another detail in FAULT",
       on_reply(MESSAGE_FAULT, [](unit&, Bytes& message) { message[9] ^= 1U; })},
      {"S5", "sends FAULT again at each COMMAND_TRIP",
       on_command([](unit& core, command_request& command) {
         if (command.flags == COMMAND_TRIP) core.fault_flags &= 0xFFU & ~unsigned{FAULT_HOST};
       })},
      {"R1a", "ends the trip at CLEAR step 1", on_clear([](unit& core, clear_request& request) {
         if (request.step == 1) core.fault_flags = 0;
       })},
      {"R1b", "issues the same token each time",
       on_clear([](unit& core, clear_request&) { core.random_state = 12345; })},
      {"R1c", "accepts the token before the newest one",
       on_clear([older = std::uint16_t{0}, newer = std::uint16_t{0}](
                    unit& core, clear_request& request) mutable {
         if (core.clear_token == 0) return;
         if (core.clear_token != newer) older = std::exchange(newer, core.clear_token);
         if (request.token == older && older != 0) request.token = newer;
       })},
      {"R2a", "reports flags after a CLEAR that ended the trip",
       on_reply(MESSAGE_CLEAR_REPLY,
                [](unit&, Bytes& message) {
                  if (message[1] == 2 && message[2] == CLEAR_DONE) message[5] = FAULT_BOOT;
                })},
      {"R2b", "accepts a token at any time",
       on_clear([](unit& core, clear_request&) { core.clear_until_us += 10'000'000; })},
      {"R3", "refuses CLEAR step 2 when it is repeated",
       on_clear([](unit& core, clear_request&) { core.cleared_token = 0; })},
      {"R4a", "compares 15 bits of the token", on_clear([](unit& core, clear_request& request) {
         if (request.step == 2 && ((request.token ^ core.clear_token) & 0x7FFF) == 0) {
           request.token = core.clear_token;
         }
       })},
      {"R4b", "takes CLEAR step 3 for step 2", on_clear([](unit&, clear_request& request) {
         if (request.step == 3) request.step = 2;
       })},
      {"R5a", "drives after a CLEAR with a COMMAND from before",
       after_message([](unit& core, const Bytes& message) {
         command_request command{};
         if (!command_request_decode(message.data(), message.size(), 1, &command)) return;
         if (core.has_pending && core.fault_flags == FAULT_HOST) {
           core.pending.flags = static_cast<std::uint8_t>(command.flags & COMMAND_ENABLE);
         }
       })},
      {"R5b", "keeps a COMMAND that waits for the next tick over a trip",
       [](BoardFault& fault) {
         const auto kept = std::make_shared<unsigned>(0);
         fault.before_message = [kept](unit& core, Bytes&) {
           if (core.has_pending && enables(core.pending)) *kept = core.counters.samples + 1;
         };
         fault.after_message = [kept](unit& core, const Bytes& message) {
           if (message[0] == MESSAGE_CLEAR && core.has_pending && !unit_is_tripped(&core) &&
               *kept == core.counters.samples + 1) {
             core.pending.flags = COMMAND_ENABLE;
           }
         };
       }},
      {"R6", "answers CLEAR step 2 with token 0",
       on_reply(MESSAGE_CLEAR_REPLY,
                [](unit&, Bytes& message) {
                  if (message[1] == 2 && message[2] != CLEAR_DONE) put_u16(message.data() + 3, 0);
                })},
  };
}

}  // namespace firmware_iface
