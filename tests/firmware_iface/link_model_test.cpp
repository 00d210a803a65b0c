#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "firmware_iface/link/baud_budget.hpp"
#include "tests/firmware_iface/scripted_unit.hpp"
#include "tests/support/refusal.hpp"

// Random sequences of messages and times against models of a few lines.

namespace {
using namespace firmware_iface;
using namespace std::chrono_literals;
using scripted_unit::ScriptedUnit;

// Commands before and after samples, losses in both directions, and echoes of new, old and unknown
// commands. The delay of a command is counted once, at its first echo, from the sample that was the
// newest when it was written. Catches a command, a sample or an extreme taken for another.
TEST(LinkModel, MeasuresTheDelayOfEachEchoedCommand) {
  for (const bool compact : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(::testing::Message() << seed << (compact ? " compact" : ""));
      std::mt19937_64 random(seed);
      const auto one_of = [&](std::uint64_t count) { return random() % count; };
      scripted_unit::Session session;
      session.start({.compact = compact});
      const std::uint64_t mask = compact ? 0xFF : 0xFFFF;
      std::vector<std::optional<std::uint64_t>> answered = {{}};  // newest sample, by command
      std::optional<std::uint64_t> newest;
      std::uint64_t sequence = 0, echoed = 0;
      std::vector<int> delays;
      for (int k = 0; k < 400; ++k) {
        for (std::uint64_t count = one_of(3); count > 0; --count) {
          session.link.write_command(std::array{1.0}, 20);
          answered.push_back(newest);
        }
        const std::uint64_t written = answered.size() - 1;
        sequence += one_of(8) == 0 ? 1 + one_of(5) : 1;
        sample_report report = ScriptedUnit::sample(sequence);
        const bool is_seen = one_of(8) != 0;
        std::uint64_t echo = written - std::min(one_of(4), written);
        if (one_of(20) == 0) echo = written + 1 + one_of(9);  // never written
        if (one_of(20) == 0) echo = written - std::min(one_of(250), written);
        report.command_sequence = static_cast<std::uint16_t>(echo & mask);
        report.status = is_seen ? STATUS_COMMAND_SEEN : 0;
        session.unit.wait_until(std::chrono::milliseconds(sequence));
        session.unit.send(compact ? test_support::compact_message_of(report, session.unit.shape())
                                  : test_support::message_of(report, session.unit.shape()));
        ASSERT_EQ(session.read(), ReadStatus::kSample);

        std::optional<int> delay;
        bool is_unknown = false;
        const bool is_same = echoed != 0 && ((echo ^ echoed) & mask) == 0;
        if (is_seen && !is_same) {
          const std::uint64_t age = (written - echo) & mask;
          is_unknown = age >= written;
          if (!is_unknown) {
            echoed = written - age;
            const bool is_kept = written - echoed < 256;
            if (is_kept && answered[echoed]) delay = static_cast<int>(sequence - *answered[echoed]);
          }
        }
        newest = sequence;
        if (delay) delays.push_back(*delay);
        ASSERT_EQ(session.sample.command_sequence, echoed);
        ASSERT_EQ(session.sample.command_unknown, is_unknown);
        ASSERT_EQ(session.sample.command_delay_ticks, delay);
        const LinkCounters& counters = session.link.counters();
        ASSERT_EQ(counters.command_delays, delays.size());
        if (delays.empty()) continue;
        ASSERT_EQ(counters.command_delay_ticks_min, *std::ranges::min_element(delays));
        ASSERT_EQ(counters.command_delay_ticks_max, *std::ranges::max_element(delays));
      }
      EXPECT_GT(delays.size(), 100U);
    }
  }
}

/// A host's requests to clear a trip. A request is repeated after 50 ms, at most twenty times in
/// all; the host's own trip ends it.
struct ClearModel {
  ClearTripState state = ClearTripState::kIdle;
  std::uint8_t fault_flags = 0;
  std::uint64_t unexpected_count = 0;
  std::vector<clear_request> sent;
  std::size_t first = 0;  // of the present request
  Nanoseconds repeat_at{0};

  void send(std::uint8_t step, std::uint16_t token, Nanoseconds now) {
    sent.push_back({step, token});
    repeat_at = now + 50ms;
  }
  bool is_last() const { return sent.size() - first >= 20; }
  void request(Nanoseconds now) {
    state = ClearTripState::kPending;
    first = sent.size();
    send(1, 0, now);
  }
  void trip() {
    if (state == ClearTripState::kPending) state = ClearTripState::kIdle;
  }
  void read(Nanoseconds now) {
    if (state != ClearTripState::kPending || now < repeat_at) return;
    if (is_last()) {
      state = ClearTripState::kNoReply;
    } else {
      send(sent.back().step, sent.back().token, now);
    }
  }
  void reply(const clear_reply& answer, Nanoseconds now) {
    if (state != ClearTripState::kPending || answer.step != sent.back().step) {
      ++unexpected_count;
      return;
    }
    fault_flags = answer.fault_flags;
    const bool is_done = answer.result == CLEAR_DONE;
    if (is_done && answer.step == 1) return send(2, answer.token, now);
    if (answer.result == CLEAR_WRONG_TOKEN && !is_last()) return send(1, 0, now);
    state = is_done ? ClearTripState::kDone : ClearTripState::kRefused;
  }
};

// Units that answer always, rarely or never, with any result, to requests and without one.
TEST(LinkModel, ClearsATripInTwoSteps) {
  std::map<ClearTripState, int> ends;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto one_of = [&](std::uint64_t count) { return random() % count; };
    const std::uint64_t reply_rarity = std::array{1, 4, 1000}[one_of(3)];
    const std::uint64_t usual =
        std::array{CLEAR_DONE, CLEAR_WRONG_TOKEN, CLEAR_CAUSE_PRESENT}[one_of(3)];
    scripted_unit::Session session;
    session.start();
    ClearModel model;
    for (int k = 0; k < 400; ++k) {
      if (one_of(60) == 0) {
        session.link.write_trip_command();
        model.trip();
      }
      if (k == 0 || one_of(60) == 0) {
        session.link.request_trip_clear();
        model.request(session.unit.now());
      }
      std::vector<clear_reply> replies;
      while (one_of(reply_rarity + 1) == 0) {
        clear_reply answer{model.sent.back().step, CLEAR_DONE, static_cast<std::uint16_t>(random()),
                           static_cast<std::uint8_t>(random())};
        if (answer.step == 2) answer.result = static_cast<std::uint8_t>(usual);
        if (one_of(10) == 0) answer.result = static_cast<std::uint8_t>(one_of(4));
        if (one_of(10) == 0) answer.step = static_cast<std::uint8_t>(one_of(4));
        session.unit.send(answer);
        replies.push_back(answer);
      }
      model.read(session.unit.now());
      for (const clear_reply& answer : replies) model.reply(answer, session.unit.now());
      session.read(std::array{1ms, 10ms, 49ms, 50ms}[one_of(4)]);
      ASSERT_EQ(session.link.trip_clear_state(), model.state);
      ASSERT_EQ(session.link.fault_flags_after_clear(), model.fault_flags);
      ASSERT_EQ(session.link.counters().messages_unexpected, model.unexpected_count);
      ASSERT_EQ(session.unit.clears.size(), model.sent.size());
      EXPECT_EQ(session.unit.clears.back().step, model.sent.back().step);
      EXPECT_EQ(session.unit.clears.back().token, model.sent.back().token);
      ++ends[model.state];
    }
  }
  EXPECT_EQ(ends.size(), 5U);
}

/// A random unit and a stream with settings at and beyond their limits. Each rule that the stream
/// breaks is listed as part of its refusal.
struct StreamCase {
  explicit StreamCase(std::uint64_t seed) : random(seed) {
    hello_reply& facts = session.unit.facts;
    facts.capabilities = static_cast<std::uint8_t>(pick({0, 1, 6, 7, 7, 7}));
    facts.encoder_count = static_cast<std::uint8_t>(pick({1, 4, 5, 16}));
    facts.motor_count = static_cast<std::uint8_t>(pick({1, 1, 1, 0, 2}));
    facts.inertial_count = static_cast<std::uint8_t>(pick({0, 1, 3, 4}));
    for (int k = 0; k < facts.inertial_count; ++k) {
      facts.inertial_ticks[k] = static_cast<std::uint8_t>(pick({1, 2, 3}));
    }
    stream.compact = pick({0, 0, 1}) != 0;
    stream.host_paced = pick({0, 0, 1}) != 0;
    stream.marks = pick({0, 0, 1}) != 0;
    stream.divider = pick({1, 1, 2, 3, 255, 0, 256, -1});
    stream.command_age_ticks = pick({10, 1, 255, 10, 0, 256});
    for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
      stream.inertial_divider[k] = pick({0, 0, 0, 0, 1, 2, 4, 6, 255, 256, -2});
    }
    const std::size_t last = facts.encoder_count - std::size_t{1};
    const int beyond = pick({0, 0, 0, 1});  // 24 bits
    session.unit.encoder[last].modulus = (1U << 24) + static_cast<std::uint32_t>(beyond);

    const auto number = [](int value) { return std::to_string(value); };
    const auto breaks = [&](bool broken, const std::string& text) {
      if (broken) refusals.push_back(text);
    };
    breaks(stream.divider < 1 || stream.divider > 255, ": divider " + number(stream.divider) + ";");
    breaks(stream.command_age_ticks < 1 || stream.command_age_ticks > 255,
           ": command_age_ticks " + number(stream.command_age_ticks) + ";");
    breaks(stream.host_paced && (facts.capabilities & UNIT_CAN_HOST_PACED) == 0, "host-paced");
    breaks(stream.marks && (facts.capabilities & UNIT_CAN_MARKS) == 0, "reads no index pulses");
    breaks(stream.compact && (facts.capabilities & UNIT_CAN_COMPACT) == 0,
           "does not support the compact format");
    breaks(stream.compact && (facts.motor_count != 1 || facts.encoder_count > 4 || stream.marks),
           "has one motor, at most 4 encoders and no index pulses");
    breaks(stream.compact && beyond == 1, "modulo 16777217, more than the 24 bits");
    for (int k = 0; k < int{INERTIAL_SENSORS_MAX}; ++k) {
      const int divider = stream.inertial_divider[static_cast<std::size_t>(k)];
      const std::string start = "inertial sensor " + number(k) + " is requested";
      const bool is_missing = k >= facts.inertial_count;
      breaks(divider != 0 && is_missing,
             start + ", but the unit has " + number(facts.inertial_count));
      if (divider == 0 || is_missing) continue;
      const int ticks = facts.inertial_ticks[k];
      breaks(divider < 0 || divider > 255 || divider * stream.divider % ticks != 0,
             start + " every " + number(divider) + " samples of " + number(stream.divider) +
                 " ticks, but the unit reads it every " + number(ticks) + " ticks");
    }
  }

  int pick(std::initializer_list<int> values) { return values.begin()[random() % values.size()]; }

  std::mt19937_64 random;
  scripted_unit::Session session;
  StreamSettings stream;
  std::vector<std::string> refusals;
};

// A stream that the unit or its format cannot carry is refused before the unit is asked, and the
// refusal names a rule that it breaks. Any other stream is requested with its settings.
TEST(LinkModel, RequestsExactlyTheStreamsThatTheUnitSupports) {
  EXPECT_EQ(StreamSettings().command_age_ticks, 10);
  int started_count = 0;
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    StreamCase the(seed);
    ASSERT_TRUE(the.session.link.connect().ok());
    const Status started = the.session.link.start_stream(the.stream);
    const auto& asked = the.session.unit.configures;
    ASSERT_EQ(started.ok(), the.refusals.empty()) << the.refusals.front();
    ASSERT_EQ(asked.size(), started.ok() ? 1U : 0U);
    if (!started.ok()) {
      EXPECT_EQ(started.error().code, ErrorCode::kUnitRefused);
      const auto named = std::ranges::find_if(the.refusals, [&](const std::string& text) {
        return started.error().detail.find(text) != std::string::npos;
      });
      ASSERT_NE(named, the.refusals.end()) << started.error().detail;
      if (the.refusals.size() == 1) ++kinds[named->substr(0, 12)];
      continue;
    }
    ++started_count;
    const int flags = STREAM_ON | (the.stream.compact ? STREAM_COMPACT : 0) |
                      (the.stream.host_paced ? STREAM_HOST_PACED : 0) |
                      (the.stream.marks ? STREAM_MARKS : 0);
    EXPECT_EQ(asked[0].flags, flags);
    EXPECT_EQ(asked[0].divider, the.stream.divider);
    EXPECT_EQ(asked[0].command_age_ticks, the.stream.command_age_ticks);
    for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
      EXPECT_EQ(asked[0].inertial_divider[k], the.stream.inertial_divider[k]);
    }
  }
  EXPECT_GT(started_count, 100);
  EXPECT_EQ(kinds.size(), 10U);
}

// Every remedy that a refusal names makes the line fast enough, and none that does is left out.
TEST(LinkModel, RefusesASlowLineWithTheRemediesThatHelp) {
  std::mt19937_64 random(5);
  int refused_count = 0;
  std::map<std::string, int> named;
  for (int k = 0; k < 2000; ++k) {
    const int baud_rate = std::array{115'200, 230'400, 460'800, 921'600}[random() % 4];
    const LinkTraffic traffic{1 + static_cast<int>(random() % 8),
                              std::array{250.0, 1000.0, 2000.0}[random() % 3],
                              random() % 3 == 0,
                              static_cast<int>(random() % 5),
                              static_cast<int>(random() % 3),
                              random() % 3 == 0};
    const auto result = check_baud_budget(baud_rate, traffic);
    const auto fits = [&](int baud, const LinkTraffic& other) {
      return compute_baud_budget(baud, other).fits;
    };
    ASSERT_EQ(result.ok(), fits(baud_rate, traffic));
    if (result.ok()) continue;
    ++refused_count;
    std::vector<std::string> remedies;
    for (const int faster : {921'600, 460'800, 230'400}) {
      if (faster <= baud_rate || !fits(faster, traffic)) continue;
      remedies = {"raise the baud rate to " + std::to_string(faster)};
    }
    LinkTraffic other = traffic;
    other.compact = true;
    const bool may_be_compact = !traffic.compact && traffic.motor_count == 1 &&
                                traffic.encoder_count <= 4 && !traffic.marks;
    if (may_be_compact && fits(baud_rate, other)) remedies.push_back("use the compact format");
    for (int fewer = traffic.inertial_count - 1; fewer >= 0; --fewer) {
      other = traffic;
      other.inertial_count = fewer;
      if (!fits(baud_rate, other)) continue;
      remedies.push_back("read at most " + std::to_string(fewer) + " inertial sensors");
      break;
    }
    std::string expected;
    for (const std::string& remedy : remedies) {
      expected += (expected.empty() ? "" : ", ") + remedy;
      ++named[remedy.substr(0, 8)];
    }
    if (!expected.empty()) expected += ", or ";
    const std::string& text = result.error().detail;
    const std::string what = traffic.compact ? "per compact sample " : "per sample ";
    const std::string sensors = "with " + std::to_string(traffic.inertial_count) +
                                " inertial sensor" + (traffic.inertial_count == 1 ? " x" : "s x");
    ASSERT_NE(text.find(what + (traffic.inertial_count == 0 ? "x" : sensors)), std::string::npos)
        << text;
    const std::size_t at = text.find("%): ");
    ASSERT_NE(at, std::string::npos) << text;
    ASSERT_TRUE(text.substr(at + 4).starts_with(expected + "sample at ")) << text << expected;
    double rate_Hz = 0.0;
    const char* rate = text.c_str() + at + 4 + expected.size();
    ASSERT_EQ(std::sscanf(rate, "sample at %lf Hz", &rate_Hz), 1);
    other = traffic;
    other.sample_rate_Hz = rate_Hz - 1e-2;  // printed with four digits
    EXPECT_TRUE(fits(baud_rate, other)) << text;
    const double divider = std::round(traffic.sample_rate_Hz / rate_Hz);
    other.sample_rate_Hz = traffic.sample_rate_Hz / (divider - 1.0);
    EXPECT_FALSE(fits(baud_rate, other)) << "the rate may be higher: " << text;
  }
  EXPECT_GT(refused_count, 300);
  EXPECT_EQ(named.size(), 3U);
}

// Each kind of damage has its own counter. Random bytes, and good frames with changes.
TEST(LinkModel, CountsEachKindOfDamageByItself) {
  std::mt19937_64 random(7);
  FrameDecoder decoder;
  frame_receiver receiver{};
  std::map<frame_status, std::uint64_t> expected;
  for (int k = 0; k < 4000; ++k) {
    test_support::WireBytes bytes = test_support::frame_of(
        test_support::message_of(ScriptedUnit::sample(random() % 1000), {2, 1, false}));
    const std::uint64_t kind = random() % 5;
    if (kind == 0) bytes.assign(1 + random() % (2 * FRAME_SIZE_BYTES_MAX), 0);
    for (std::uint8_t& byte : bytes) {
      if (kind == 0) byte = static_cast<std::uint8_t>(1 + random() % 255);
    }
    if (kind == 1) bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    if (kind == 2) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(random() % 4));
    bytes.push_back(0);
    for (const std::uint8_t byte : bytes) {
      const frame_status status = frame_receiver_push(&receiver, byte);
      ++expected[status];
      ASSERT_EQ(decoder.push(byte), status == FRAME_OK);
    }
  }
  EXPECT_EQ(decoder.counters().good, expected[FRAME_OK]);
  EXPECT_EQ(decoder.counters().too_long, expected[FRAME_TOO_LONG]);
  EXPECT_EQ(decoder.counters().bad_stuffing, expected[FRAME_BAD_STUFFING]);
  EXPECT_EQ(decoder.counters().bad_length, expected[FRAME_BAD_LENGTH]);
  EXPECT_EQ(decoder.counters().unknown_type, expected[FRAME_UNKNOWN_TYPE]);
  EXPECT_EQ(decoder.counters().bad_crc, expected[FRAME_BAD_CRC]);
  EXPECT_EQ(expected.size(), 7U);
}

// --- Single values

class LinkFields : public ::testing::Test, protected scripted_unit::Session {
 protected:
  /// Unrequested messages, frames that are too short, and bytes without the end of a frame.
  static std::vector<test_support::WireBytes> floods() {
    return {test_support::frame_of(test_support::message_of(clear_reply{1, CLEAR_DONE, 7, 0})),
            {1, 2, 0},
            test_support::WireBytes(90, 0x55)};
  }
};

TEST_F(LinkFields, OfAFaultKeepTheirPlaces) {
  start();
  unit.send(test_support::message_of(fault_report{0x22, 3, 40'000, 5'000'000, -6}));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  ASSERT_TRUE(link.last_fault().has_value());
  EXPECT_EQ(link.last_fault()->fault_flags, 0x22);
  EXPECT_EQ(link.last_fault()->cause, 3);
  EXPECT_EQ(link.last_fault()->sample_sequence, 40'000);
  EXPECT_EQ(link.last_fault()->tick_us, 5'000'000U);
  EXPECT_EQ(link.last_fault()->detail, -6);
}

// A unit or a line that sends other messages or garbage without end does not keep a request from
// ending.
TEST_F(LinkFields, RequestEndsOnAFloodedLine) {
  ASSERT_TRUE(link.connect().ok());
  unit.answers_configure = false;
  for (const test_support::WireBytes& flood : floods()) {
    unit.flood = flood;
    const Nanoseconds asked = unit.now();
    EXPECT_FALSE(link.start_stream({}, {.reply_timeout = 50ms, .attempts_max = 3}).ok());
    EXPECT_GE(unit.now() - asked, 150ms);
    EXPECT_LE(unit.now() - asked, 160ms);
    EXPECT_EQ(link.counters().bytes_received, unit.sent_size_bytes);
  }
}

// A unit that does not answer a request is reported after all repetitions, with the request and the
// time; a port that closes, at once.
TEST_F(LinkFields, SilenceNamesTheRequest) {
  constexpr RequestSettings kPatience{.reply_timeout = 20ms, .attempts_max = 3};
  const auto expect_silence = [&](const std::string& request, const auto& ask) {
    const Nanoseconds asked = unit.now();
    const Error error = ask().error();
    EXPECT_EQ(error.code, ErrorCode::kUnitSilent);
    test_support::expect_parts(error.detail, {"no reply to " + request + " within 60 ms"});
    EXPECT_EQ(unit.now() - asked, 60ms);
  };
  unit.answers_describe = false;
  expect_silence("DESCRIBE", [&] { return link.connect(kPatience); });
  unit.answers_describe = true;
  ASSERT_TRUE(link.connect().ok());
  unit.answers_configure = false;
  expect_silence("CONFIGURE", [&] { return link.start_stream({}, kPatience); });
  expect_silence("CONFIGURE", [&] { return link.stop_stream({}, kPatience); });
  unit.close();
  for (const Error& error : {link.connect().error(), link.start_stream({}).error()}) {
    EXPECT_EQ(error.code, ErrorCode::kPortFailed);
    test_support::expect_parts(error.detail, {"closed while waiting for the reply to "});
  }
}

// Nor does it keep a read from ending, which looks at the line once after its deadline.
TEST_F(LinkFields, ReadEndsOnAFloodedLine) {
  start();
  for (const test_support::WireBytes& flood : floods()) {
    unit.flood = flood;
    for (const Nanoseconds patience : {0ms, 1ms, 7ms}) {
      const Nanoseconds asked = unit.now();
      EXPECT_EQ(read(patience), ReadStatus::kTimeout);
      EXPECT_EQ(unit.now() - asked, std::max<Nanoseconds>(patience, 1ms));
    }
  }
}

// The first request ends a frame that an earlier program left incomplete.
TEST_F(LinkFields, RequestIsReadBehindAnIncompleteFrame) {
  unit.write(std::array<std::uint8_t, 3>{1, 2, 3});
  EXPECT_TRUE(link.connect({.reply_timeout = 5ms, .attempts_max = 1}).ok());
}

// Replies to an earlier program may still be on the line.
TEST_F(LinkFields, RepliesToAnEarlierProgramAreIgnored) {
  ASSERT_TRUE(link.connect().ok());
  const std::uint16_t nonce = unit.facts.nonce;
  const std::uint16_t sequence = unit.configured.sequence;
  unit.wait_until(1s);
  UnitLink later(unit);
  ASSERT_TRUE(later.connect().ok());
  EXPECT_NE(unit.facts.nonce, nonce);
  ASSERT_TRUE(later.start_stream({}).ok());
  EXPECT_NE(unit.configured.sequence, sequence);
}

// A session that begins ends the stream: what still arrives of it is no sample of the new session.
TEST_F(LinkFields, SamplesAfterAHelloAreDropped) {
  start();
  pass({0});
  ASSERT_TRUE(link.connect().ok());
  unit.send(ScriptedUnit::sample(1));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  EXPECT_EQ(link.counters().messages_unexpected, 1U);
  EXPECT_EQ(link.counters().samples_received, 1U);
}

// A reply of the right version and layout with another length was altered.
TEST_F(LinkFields, HelloReplyOfAnotherLengthIsRefused) {
  unit.alter_hello_bytes = [](test_support::WireBytes& bytes) { bytes.push_back(0); };
  const auto facts = link.connect();
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().code, ErrorCode::kLayoutMismatch);
  test_support::expect_parts(facts.error().detail,
                             {"expected " + std::to_string(HELLO_REPLY_SIZE_BYTES)});
}

}  // namespace
