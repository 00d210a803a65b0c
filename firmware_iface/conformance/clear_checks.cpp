// Checks of CLEAR.

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

/// Starts a stream and trips the unit.
void begin_tripped(TestHost& host) {
  host.begin_stream();
  host.next_sample();
  host.trip();
}

/// Starts a stream, trips the unit and requests a token for CLEAR. Trips again, because only R1a
/// checks whether step 1 ends the trip.
std::uint16_t begin_with_token(TestHost& host) {
  begin_tripped(host);
  const std::uint16_t token = host.clear(1, 0).token;
  host.trip();
  return token;
}

/// Throws CheckFailed unless the next sample of a state after `what` is tripped.
void expect_tripped(TestHost& host, const std::string& what) {
  host.next_sample();
  expect(host.next_sample().is_tripped(), "{} ends the trip", what);
}

void expect_result(const clear_reply& reply, int result, const std::string& what) {
  expect(reply.result == result, "{} is answered with result {}, expected {}", what, reply.result,
         result);
}

Measurement step_one_changes_nothing(TestHost& host) {
  begin_tripped(host);
  const clear_reply reply = host.clear(1, 0);
  expect_result(reply, CLEAR_DONE, "CLEAR step 1");
  expect((reply.fault_flags & FAULT_HOST) != 0, "CLEAR step 1 leaves {}",
         fault_names(reply.fault_flags));
  expect_tripped(host, "CLEAR step 1 alone");
  return format_count(1, "step", "still tripped");
}

// A repetition by chance has a probability of 1 in 65535 per pair.
Measurement tokens_are_new(TestHost& host) {
  constexpr int kTokens = 16;
  host.begin();
  std::uint16_t before = 0;
  int repeated = 0;
  for (int k = 0; k < kTokens; ++k) {
    const std::uint16_t token = host.clear(1, 0).token;
    expect(token != 0, "a token is 0");
    repeated += token == before ? 1 : 0;
    before = token;
  }
  expect(repeated < 2, "{} of {} tokens are the same as the one before", repeated, kTokens);
  return format_count(kTokens, "token");
}

Measurement only_newest_token_counts(TestHost& host) {
  const std::uint16_t older = begin_with_token(host);
  std::uint16_t newest = older;
  for (int k = 0; k < 3 && newest == older; ++k) newest = host.clear(1, 0).token;
  if (newest == older) throw CheckNotTested{"the unit repeats its tokens"};
  host.trip();
  expect_result(host.clear(2, older), CLEAR_WRONG_TOKEN, "CLEAR step 2 with an older token");
  expect_tripped(host, "CLEAR step 2 with an older token");
  return format_count(1, "older token", "refused");
}

Measurement step_two_ends_trip(TestHost& host) {
  begin_tripped(host);
  const clear_reply reply = host.clear(2, host.clear(1, 0).token);
  expect_result(reply, CLEAR_DONE, "CLEAR step 2 with the token");
  expect(reply.fault_flags == 0, "CLEAR step 2 leaves {}", fault_names(reply.fault_flags));
  host.next_sample();
  const ReceivedSample sample = host.next_sample();
  expect(!sample.is_tripped() && !sample.is_driving(), "after CLEAR: {}",
         status_names(sample.report.status));
  return format_count(2, "step");
}

Measurement token_expires(TestHost& host) {
  constexpr Nanoseconds kInTime = std::chrono::milliseconds(CLEAR_WINDOW_MS - 100);
  constexpr Nanoseconds kLate = std::chrono::milliseconds(CLEAR_WINDOW_MS + 60);
  begin_tripped(host);
  const std::uint16_t good = host.clear(1, 0).token;
  host.wait(kInTime);
  expect_result(host.clear(2, good), CLEAR_DONE, "CLEAR step 2 400 ms after step 1");
  host.trip();
  const std::uint16_t late = host.clear(1, 0).token;
  host.trip();
  host.wait(kLate);
  expect_result(host.clear(2, late), CLEAR_WRONG_TOKEN, "CLEAR step 2 560 ms after step 1");
  expect_tripped(host, "CLEAR step 2 560 ms after step 1");
  return {560.0, "ms", "refused, 400 ms accepted"};
}

Measurement repeated_step_two(TestHost& host) {
  begin_tripped(host);
  const std::uint16_t token = host.clear(1, 0).token;
  expect_result(host.clear(2, token), CLEAR_DONE, "CLEAR step 2");
  expect_result(host.clear(2, token), CLEAR_DONE, "CLEAR step 2 repeated after it succeeded");
  host.trip();
  expect_result(host.clear(2, token), CLEAR_WRONG_TOKEN,
                "CLEAR step 2 with the token of the previous trip");
  expect_tripped(host, "CLEAR step 2 with the token of the previous trip");
  return format_count(2, "repetition");
}

Measurement refuses_wrong_token(TestHost& host) {
  const std::uint16_t token = begin_with_token(host);
  for (const unsigned wrong : {0U, token ^ 1U, token ^ 0x8000U, token ^ 0xFFFFU}) {
    expect_result(host.clear(2, static_cast<std::uint16_t>(wrong)), CLEAR_WRONG_TOKEN,
                  "CLEAR step 2 with a wrong token");
  }
  expect_tripped(host, "CLEAR step 2 with a wrong token");
  host.clear_trip();
  const clear_reply issued = host.clear(1, 0);
  expect_result(host.clear(2, static_cast<std::uint16_t>(issued.token ^ 1U)), CLEAR_WRONG_TOKEN,
                "CLEAR step 2 with a wrong token while the unit is not tripped");
  return format_count(5, "token", "refused");
}

Measurement refuses_other_steps(TestHost& host) {
  const std::uint16_t token = begin_with_token(host);
  for (const int step : {0, 3, 255}) {
    expect_result(host.clear(static_cast<std::uint8_t>(step), token), CLEAR_WRONG_STEP,
                  "CLEAR step " + std::to_string(step));
  }
  expect_tripped(host, "CLEAR with a step other than 1 and 2");
  return format_count(3, "step", "refused");
}

// The COMMAND arrives while the unit is tripped and would still be valid after the CLEAR.
Measurement stays_off_after_clear(TestHost& host) {
  begin_tripped(host);
  host.send_command(COMMAND_ENABLE, host.last_sample()->number, host.facts().ttl_max_ms);
  const std::uint16_t token = host.clear(1, 0).token;
  expect_result(host.clear(2, token), CLEAR_DONE, "CLEAR step 2");
  for (const ReceivedSample& sample : host.read_samples_for(400ms)) {
    expect(!sample.is_driving(),
           "a COMMAND sent before the CLEAR switches the output on after the CLEAR");
    expect(!sample.is_tripped() || sample.report.fault_flags == FAULT_HOST,
           "a COMMAND from before the CLEAR trips after it: {}",
           fault_names(sample.report.fault_flags));
  }
  host.drive(host.time_to_live_ms(100));
  return {400.0, "ms", "off"};
}

// In one write, all three reach most units within one tick, before the COMMAND takes effect.
Measurement forgets_command_of_before(TestHost& host) {
  constexpr int kTries = 5;
  host.begin_stream();
  for (int k = 0; k < kTries; ++k) {
    host.next_sample();
    host.trip();
    host.clear_trip();
    const std::uint16_t token = host.clear(1, 0).token;
    const ReceivedSample newest = host.next_sample();
    Bytes bytes;
    for (const Bytes& message :
         {encode_message(host.make_command(COMMAND_ENABLE, newest.number, host.facts().ttl_max_ms),
                         host.motor_count()),
          encode_message(host.make_command(COMMAND_TRIP, newest.number, 0), host.motor_count()),
          encode_message(clear_request{2, token})}) {
      const Bytes frame = make_frame(message);
      bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    const int replies_before = host.received_message_count(MESSAGE_CLEAR_REPLY);
    host.write(bytes);
    const Nanoseconds deadline = host.now() + 500ms;
    while (host.received_message_count(MESSAGE_CLEAR_REPLY) == replies_before) {
      if (!host.next(deadline)) throw CheckFailed{"CLEAR right after COMMAND_TRIP is not answered"};
    }
    for (int later = 0; later < 10; ++later) host.next_sample();
    expect(!host.last_sample()->is_driving(),
           "a COMMAND sent before a trip switches the output on after the CLEAR");
  }
  return format_count(kTries, "trip", "cleared at once");
}

Measurement reply_repeats_request(TestHost& host) {
  begin_tripped(host);
  const clear_reply wrong = host.clear(2, 0xABCD);
  expect(wrong.token == 0xABCD, "CLEAR_REPLY of step 2 has token {:#x}, sent was 0xabcd",
         wrong.token);
  expect(wrong.fault_flags == host.next_sample().report.fault_flags,
         "CLEAR_REPLY has fault_flags {}, SAMPLE has {}", fault_names(wrong.fault_flags),
         fault_names(host.last_sample()->report.fault_flags));
  return format_count(1, "reply");
}

}  // namespace

std::vector<ConformanceCheck> clear_checks() {
  return {
      {"R1a", "CLEAR step 1 does not end the trip.", step_one_changes_nothing},
      {"R1b", "Each token is new and not 0.", tokens_are_new},
      {"R1c", "Only the newest token counts.", only_newest_token_counts},
      {"R2a", "CLEAR step 2 with the token ends the trip.", step_two_ends_trip},
      {"R2b", "A token is valid for 500 ms.", token_expires},
      {"R3", "After CLEAR step 2 succeeded, its repetition succeeds until the next trip.",
       repeated_step_two},
      {"R4a", "CLEAR step 2 with a wrong token is refused.", refuses_wrong_token},
      {"R4b", "CLEAR with a step other than 1 or 2 is refused.", refuses_other_steps},
      {"R5a", "After CLEAR the output stays off until a new COMMAND enables it.",
       stays_off_after_clear},
      {"R5b", "A COMMAND sent before a trip does not drive after a CLEAR in the same tick.",
       forgets_command_of_before},
      {"R6", "CLEAR_REPLY repeats the token of CLEAR step 2 and reports fault_flags.",
       reply_repeats_request},
  };
}

}  // namespace firmware_iface::conformance
