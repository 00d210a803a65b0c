#include "service/recordings/counter_wrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;

constexpr double kCounterPeriod = 5e-3;  // [s]

/// A swing of ±190 counts that decays slowly, at 200 Hz, without a modulus.
std::vector<double> free_counts(double counts_per_turn = 1000.0) {
  std::vector<double> counts;
  for (int k = 0; k < 2000; ++k) {
    const double t = kCounterPeriod * k;
    const double angle = 1.2 * std::exp(-0.05 * t) * std::cos(8.0 * t);
    counts.push_back(std::round(angle * counts_per_turn / (2.0 * M_PI)));
  }
  return counts;
}

/// Counts from 0 to modulus − 1, or as signed numbers.
std::vector<double> wrapped(std::vector<double> counts, double modulus, bool is_signed = false) {
  for (double& count : counts) {
    const double shifted = count + (is_signed ? 0.5 * modulus : 0.0);
    count -= modulus * std::floor(shifted / modulus);
  }
  return counts;
}

// The modulus is found from the readings, for signed and unsigned counters of any width, for
// multiples of the counts per turn and for round numbers.
TEST(CounterWrap, IsFoundInReadings) {
  for (const double modulus : {256.0, 4096.0, 65536.0, 4294967296.0, 1000.0, 4000.0, 10000.0}) {
    EXPECT_EQ(CounterJumps(wrapped(free_counts(), modulus)).find_modulus(1000.0), modulus);
  }
  std::vector<double> spinning = free_counts(20000.0);
  for (std::size_t k = 0; k < spinning.size(); ++k) spinning[k] += 90.0 * static_cast<double>(k);
  for (const double modulus : {65536.0, 20000.0, 50000.0}) {
    for (const bool is_signed : {false, true}) {
      const std::vector<double> counts = wrapped(spinning, modulus, is_signed);
      EXPECT_EQ(CounterJumps(counts).find_modulus(20000.0), modulus) << is_signed;
      EXPECT_EQ(CounterJumps(counts).find_modulus(0.0), modulus) << is_signed;
    }
  }
}

// Encoders may count in steps of 4. The motion beside a jump then determines the modulus less
// exactly.
TEST(CounterWrap, IsFoundInCoarseReadings) {
  std::vector<double> counts = free_counts(4096.0);
  for (double& count : counts) count *= 4.0;
  EXPECT_EQ(CounterJumps(wrapped(counts, 4096.0)).find_modulus(16384.0), 4096.0);
}

// Motion, slips, spikes, missing readings and joined recordings are not wraps.
TEST(CounterWrap, IsNotFoundElsewhere) {
  const std::vector<double> counts = free_counts();
  EXPECT_EQ(CounterJumps(counts).find_modulus(1000.0), 0.0);
  EXPECT_EQ(CounterJumps({}).find_modulus(1000.0), 0.0);
  for (const double spike : {-1.0, 0.0, 65535.0, -32768.0}) {
    std::vector<double> spiked = counts;
    for (const std::size_t row : {300, 301, 302, 303, 304, 900, 1500}) spiked[row] = spike;
    EXPECT_EQ(CounterJumps(spiked).find_modulus(1000.0), 0.0) << spike;
  }
  for (const double slip : {100.0, 1000.0, 65536.0}) {
    std::vector<double> slipped = counts;
    for (std::size_t row = 700; row < slipped.size(); ++row) slipped[row] += slip;
    EXPECT_EQ(CounterJumps(slipped).find_modulus(0.0), 0.0) << slip;
  }
  std::vector<double> sawtooth;  // a cart that is moved back between two segments
  for (int k = 0; k < 2000; ++k) sawtooth.push_back(k % 500);
  EXPECT_GT(CounterJumps(sawtooth).find_modulus(0.0), 0.0);
  EXPECT_EQ(CounterJumps(sawtooth, {0, 500, 1000, 1500}).find_modulus(0.0), 0.0);
}

// The motion beside the jumps shows a modulus that is wrong by some counts, and the range of the
// readings one that is too small.
TEST(CounterWrap, DisagreesWithAWrongModulus) {
  const CounterJumps jumps(wrapped(free_counts(), 65536.0));
  EXPECT_TRUE(jumps.agree_with(65536.0));
  for (const double wrong : {256.0, 32768.0, 65500.0, 65600.0, 70000.0, 4294967296.0}) {
    EXPECT_FALSE(jumps.agree_with(wrong)) << wrong;
  }
  EXPECT_TRUE(CounterJumps(free_counts()).agree_with(65536.0)) << "it need not wrap";
  EXPECT_FALSE(CounterJumps(free_counts(100000.0)).agree_with(32768.0)) << "unwrapped already";
}

// Unwrapped readings differ from the true ones by the same multiple of the modulus throughout, and
// start between ±modulus/2. Missing readings stay missing.
TEST(CounterWrap, IsUndone) {
  const std::vector<double> truth = free_counts();
  for (const double modulus : {256.0, 65536.0}) {
    for (const bool is_signed : {false, true}) {
      std::vector<double> counts = wrapped(truth, modulus, is_signed);
      counts[50] = std::numeric_limits<double>::quiet_NaN();
      const int wraps = unwrap_counter(modulus, counts);
      EXPECT_EQ(wraps > 0, modulus == 256.0 || !is_signed);
      const double start = truth[0] - counts[0];
      EXPECT_EQ(std::remainder(start, modulus), 0.0);
      EXPECT_LE(std::abs(counts[0]), 0.5 * modulus);
      for (std::size_t k = 0; k < counts.size(); ++k) {
        if (k != 50) ASSERT_EQ(counts[k] + start, truth[k]) << k;
      }
      EXPECT_TRUE(std::isnan(counts[50]));
    }
  }
  std::vector<double> below = {65531.0, 65535.0, 3.0};
  EXPECT_EQ(unwrap_counter(65536.0, below), 1);
  EXPECT_EQ(below, (std::vector<double>{-5.0, -1.0, 3.0}));
}

RecordingFormat counter_format(double modulo, double counts_per_turn = 1000.0) {
  RecordingFormat format;
  format.time_column = "t";
  EncoderColumn& angle = format.angles.emplace_back();
  angle.column = "cnt";
  angle.joint = "pivot";
  angle.count_size = 2.0 * M_PI / counts_per_turn;
  angle.scale = -angle.count_size;
  angle.offset = 0.25;
  angle.in_radians = false;
  angle.counts_modulo = modulo;
  angle.place = "rig.textproto:9:3";
  return format;
}

std::string counter_csv(const std::vector<double>& counts) {
  std::ostringstream text;
  text.precision(12);
  text << "t,cnt\n";
  for (std::size_t k = 0; k < counts.size(); ++k) {
    text << kCounterPeriod * static_cast<double>(k) << ',' << counts[k] << '\n';
  }
  return text.str();
}

// With its modulus, a counter gives the angles of one that does not wrap.
TEST(CounterWrap, IsUndoneOnImport) {
  const std::string text = counter_csv(wrapped(free_counts(), 65536.0));
  const ImportedRecording imported = import_csv_text("r.csv", text, counter_format(65536.0));
  const Eigen::VectorXd expected =
      import_csv_text("r.csv", counter_csv(free_counts()), counter_format(0.0))
          .recording.segments.at(0)
          .angles.col(0);
  const Eigen::VectorXd angles = imported.recording.segments.at(0).angles.col(0);
  ASSERT_EQ(angles.size(), expected.size());
  EXPECT_LT((angles - expected).cwiseAbs().maxCoeff(), 1e-12);
  ASSERT_EQ(imported.summary.notes.size(), 1U);
  expect_parts(imported.summary.notes[0], {"\"cnt\"", "modulo 65536", "unwrapped"});
}

// A recording written in the format of the rig file wraps again, and can be read back.
TEST(CounterWrap, IsWrittenAndReadBack) {
  const Rig rig = parse_rig("rig.textproto", R"(name: 'p'
body { name: 'B' mass { value: 0.4 }
  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 free: true } } }
joint { name: 'pivot' parent { body: 'ground' axis { z: 1 } zero_direction { y: -1 } }
  child { body: 'B' point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { counts_per_turn: 1000 } }
recording { time { column: 't' }
  angle { joint: 'pivot' column: 'cnt' unit: COUNT counts_modulo: 256 offset_rad: 0.25 } }
)");
  const ImportedRecording first =
      import_csv_text("r.csv", counter_csv(wrapped(free_counts(), 256.0)), *rig.format);
  const std::string text = format_recording_csv(rig, first.recording);
  const ImportedRecording second = import_csv_text("s.csv", text, *rig.format);
  const auto& before = first.recording.segments.at(0).angles;
  const auto& after = second.recording.segments.at(0).angles;
  ASSERT_EQ(before.rows(), after.rows());
  EXPECT_LT((before - after).cwiseAbs().maxCoeff(), 1e-9);
}

// A missing or wrong modulus must not be fitted, although a wrap of 256 counts is slower than the
// largest plausible speed.
TEST(CounterWrap, IsRefusedWithoutItsModulus) {
  const auto refused = [](const std::vector<double>& counts, double modulo) {
    return test_support::refusal([&] {
      (void)import_csv_text("r.csv", counter_csv(counts), counter_format(modulo, 20000.0));
    });
  };
  const std::vector<double> slow = free_counts();
  expect_parts(
      refused(wrapped(slow, 256.0), 0.0),
      {"r.csv:", "\"cnt\"", "starts again after 256 counts", "counts_modulo: 256", "\"pivot\""});
  expect_parts(refused(wrapped(slow, 65536.0), 32768.0),
               {"counts_modulo is 32768", "counts_modulo: 65536"});
  expect_parts(refused(wrapped(slow, 65536.0), 65535.0),
               {"counts_modulo is 65535", "counts_modulo: 65536"});
  expect_parts(refused(free_counts(100000.0), 32768.0),
               {"rig.textproto:9:3", "span", "32768", "unwrapped already"});
}

// Nobody should raise speed_max for an impossible speed; for a fast one, this is the remedy.
TEST(CsvRecording, ProposesALargerSpeedOnlyIfPossible) {
  const auto refused = [](double step) {
    std::vector<double> counts = free_counts();
    for (std::size_t k = 1000; k < counts.size(); ++k) counts[k] += step;
    return test_support::refusal(
        [&] { (void)import_csv_text("r.csv", counter_csv(counts), counter_format(0.0)); });
  };
  // 60 rad/s over the window of 20 ms are 191 counts.
  const std::string fast = refused(1500.0), impossible = refused(15000.0);
  EXPECT_NE(fast.find("raise speed_max_rad_per_s"), std::string::npos) << fast;
  EXPECT_EQ(impossible.find("raise"), std::string::npos) << impossible;
  EXPECT_NE(impossible.find("counts_modulo"), std::string::npos) << impossible;
  // No counter is so long.
  const std::string endless = refused(1e20);
  EXPECT_EQ(endless.find("counts_modulo"), std::string::npos) << endless;
  EXPECT_NE(endless.find("must be from"), std::string::npos) << endless;
}

}  // namespace
}  // namespace service
