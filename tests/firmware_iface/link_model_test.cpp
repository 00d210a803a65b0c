#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "firmware_iface/link/baud_budget.hpp"
#include "firmware_iface/link/unit_clock.hpp"
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

struct Point {
  double unit_s, delay_s;
};

double upper_median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A line through the points that are within three robust standard deviations of it, found in five
/// rounds. A nearly exact line has a standard deviation of 1 µs. Fewer than four points give none.
struct RobustLine {
  double offset_s = 0.0, slope = 0.0, sum_square = 0.0, spread = 0.0, used_count = 0.0;
  std::vector<bool> used;
  bool exists = true;

  explicit RobustLine(const std::vector<Point>& points) : used(points.size(), true) {
    for (int round = 0; round <= 5 && exists; ++round) {
      fit(points);
      std::vector<double> residuals, distances;
      for (const Point& p : points) residuals.push_back(p.delay_s - offset_s - slope * p.unit_s);
      const double center = upper_median(residuals);
      for (const double r : residuals) distances.push_back(std::abs(r - center));
      const double limit = 3.0 * std::max(1.4826 * upper_median(distances), 1e-6);
      for (std::size_t k = 0; k < points.size() && round < 5; ++k) used[k] = distances[k] <= limit;
    }
  }

  void fit(const std::vector<Point>& points) {
    double mean_x = 0.0, mean_y = 0.0, xy = 0.0;
    used_count = static_cast<double>(std::ranges::count(used, true));
    exists = used_count >= 4.0;
    spread = sum_square = 0.0;
    const auto over_used = [&](const auto& add) {
      for (std::size_t k = 0; k < points.size(); ++k) {
        if (used[k]) add(points[k]);
      }
    };
    over_used([&](const Point& p) { mean_x += p.unit_s / used_count; });
    over_used([&](const Point& p) { mean_y += p.delay_s / used_count; });
    over_used([&](const Point& p) { spread += std::pow(p.unit_s - mean_x, 2); });
    over_used([&](const Point& p) { xy += (p.unit_s - mean_x) * (p.delay_s - mean_y); });
    slope = xy / spread;
    offset_s = mean_y - slope * mean_x;
    over_used([&](const Point& p) {
      sum_square += std::pow(p.delay_s - offset_s - slope * p.unit_s, 2);
    });
  }
};

/// The clock's blocks: the sample of each block that is least behind the line. 256 blocks become
/// 128 of twice the length.
struct ClockModel {
  std::vector<Point> blocks;
  std::optional<RobustLine> line;
  std::size_t block_count = 0;  // of the line

  void add(std::int64_t unit_us, Point sample) {
    if (unit_us >= end_us_ && open_) finish();
    while (unit_us >= end_us_) end_us_ += length_us_;
    if (!open_ || is_faster(sample, *open_)) open_ = sample;
  }

 private:
  bool is_faster(const Point& a, const Point& b) const {
    const double slope = line ? line->slope : 0.0;
    return a.delay_s - slope * a.unit_s < b.delay_s - slope * b.unit_s;
  }
  void finish() {
    if (blocks.size() == 256) {
      for (std::size_t k = 0; k < 128; ++k) {
        const Point a = blocks[2 * k], b = blocks[2 * k + 1];
        blocks[k] = is_faster(b, a) ? b : a;
      }
      blocks.resize(128);
      length_us_ *= 2;
    }
    blocks.push_back(*std::exchange(open_, std::nullopt));
    if (RobustLine next(blocks); next.exists) {
      line = next;
      block_count = blocks.size();
    }
  }

  std::optional<Point> open_;
  std::int64_t length_us_ = 125'000, end_us_ = 125'000;
};

// Delays scatter by 0 to 100 µs, some are outliers to either side; clocks differ by up to 1 %. One
// or some samples in a block, blocks without any, and more blocks than fit. Catches an error in the
// choice of samples, of the fit or of its uncertainty.
TEST(LinkModel, FitsTheUnitsClockByARobustLine) {
  std::size_t rejected = 0, fit_count = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const double scatter_s = std::array{0.0, 4e-7, 1e-5, 1e-4}[random() % 4];
    const double rate = 1.0 + 1e-2 * uniform(random);
    const std::int64_t unit_first_us = 7'000'123;
    const Nanoseconds host_first(3'000'000'000);
    const std::int64_t step_us = std::array{2'000, 40'000, 125'000, 130'000}[random() % 4];
    UnitClockEstimator clock;
    ClockModel model;
    const int count = seed % 15 == 0 ? 2'000 : 4 + static_cast<int>(random() % 300);
    std::int64_t unit_us = 0;
    for (int k = 0; k < count; ++k) {
      double delay_s = scatter_s * uniform(random);
      if (random() % 6 == 0) delay_s += 2e-3 * uniform(random);
      if (random() % 6 == 0) delay_s += 4e-6 * uniform(random);
      if (k == 0) delay_s = 0.0;  // times count from the first sample
      const double unit_s = 1e-6 * static_cast<double>(unit_us);
      const Nanoseconds host(std::llround(1e9 * (unit_s / rate + delay_s)));
      clock.add_sample_times(unit_first_us + unit_us, host_first + host);
      model.add(unit_us, {unit_s, 1e-9 * static_cast<double>(host.count()) - unit_s});
      unit_us += step_us + (random() % 50 == 0 ? static_cast<std::int64_t>(random() % 600'000) : 0);
      if (random() % 2 == 0) unit_us += static_cast<std::int64_t>(random() % 20'000);

      const ClockFit& fit = clock.fit();
      ASSERT_EQ(fit.valid, model.line.has_value());
      if (!model.line) continue;
      const RobustLine& line = *model.line;
      const double n = line.used_count;
      const double variance = std::max(line.sum_square / (n - 2.0), 1e-12 / 12.0);
      ASSERT_EQ(static_cast<double>(fit.blocks_used), n);
      ASSERT_EQ(fit.blocks_rejected, model.block_count - fit.blocks_used);
      ASSERT_NEAR(fit.rate_error_ppm, 1e6 * (1.0 / (1.0 + line.slope) - 1.0), 1e-3);
      ASSERT_NEAR(fit.rate_sigma_ppm,
                  1e6 * std::sqrt(variance / line.spread) / std::pow(1.0 + line.slope, 2),
                  1e-6 + 1e-6 * fit.rate_sigma_ppm);
      ASSERT_NEAR(fit.residual_rms_us, 1e6 * std::sqrt(line.sum_square / n), 1e-3);
      ASSERT_EQ(fit.unit_reference_us, unit_first_us);
      ASSERT_NEAR(static_cast<double>((fit.host_reference - host_first).count()),
                  1e9 * line.offset_s, 2.0);
      rejected += fit.blocks_rejected;
      ++fit_count;
    }
  }
  EXPECT_GT(fit_count, 10'000U);
  EXPECT_GT(rejected, fit_count);
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

class LinkFields : public ::testing::Test, protected scripted_unit::Session {};

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

// A unit that sends other messages without end does not keep a request from ending.
TEST_F(LinkFields, RequestEndsAmongUnrequestedMessages) {
  ASSERT_TRUE(link.connect().ok());
  unit.answers_configure = false;
  unit.floods = true;
  const Nanoseconds asked = unit.now();
  EXPECT_FALSE(link.start_stream({}, {.reply_timeout = 50ms, .attempts_max = 3}).ok());
  EXPECT_GE(unit.now() - asked, 150ms);
  EXPECT_LE(unit.now() - asked, 160ms);
  EXPECT_EQ(link.counters().bytes_received, unit.sent_size_bytes);
}

// Nor does it keep a read from ending, which looks at the line once after its deadline.
TEST_F(LinkFields, ReadEndsAmongUnrequestedMessages) {
  start();
  unit.floods = true;
  for (const Nanoseconds patience : {0ms, 1ms, 7ms}) {
    const Nanoseconds asked = unit.now();
    EXPECT_EQ(read(patience), ReadStatus::kTimeout);
    EXPECT_GE(unit.now() - asked, patience);
    EXPECT_LE(unit.now() - asked, patience + 1ms);
  }
}

// The first request ends a frame that an earlier program left incomplete.
TEST_F(LinkFields, RequestIsReadBehindAnIncompleteFrame) {
  unit.write(std::array<std::uint8_t, 3>{1, 2, 3});
  EXPECT_TRUE(link.connect({.reply_timeout = 5ms, .attempts_max = 1}).ok());
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
