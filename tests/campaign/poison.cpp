#include "tests/campaign/poison.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace campaign {
namespace {

using rigcal::v1::OpenSession;
using rigcal::v1::Sample;
using rigcal::v1::SampleBatch;
using Random = std::mt19937_64;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::size_t draw(Random& random, std::size_t count) { return random() % count; }

const std::string& bad_name(Random& random) {
  static const std::array<std::string, 12> kNames = {
      "\x1b[2J\x1b[31mall is well\x1b[0m",
      "\x1b]0;title\x07",
      "../../../etc/passwd",
      "/dev/zero",
      "a/b\\c",
      "\r\nevent=session_deleted session=all",
      std::string("nul\0byte", 8),
      "\xe2\x80\xae"
      "gnirts",
      "\"quoted\" {braced: 1} <b>bold</b> &amp; %s%n",
      std::string(300, 'x'),
      " ",
      "\xf0\x9f\x92\xa3",
  };
  return kNames[draw(random, kNames.size())];
}

double bad_number(Random& random) {
  constexpr std::array kNumbers = {kNan, kInfinite, -kInfinite,  1e308, -1e308,
                                   1e9,  -1e9,      1.0000001e9, 5e-324};
  return kNumbers[draw(random, kNumbers.size())];
}

std::uint64_t bad_count(Random& random) {
  constexpr std::uint64_t k53 = std::uint64_t{1} << 53;
  constexpr std::array<std::uint64_t, 8> kCounts = {
      0, 1, k53 - 1, k53, k53 + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}, 0xffffffffu};
  return kCounts[draw(random, kCounts.size())];
}

Sample& any_sample(Random& random, SampleBatch& batch) {
  return *batch.mutable_samples(static_cast<int>(draw(random, 1000)) % batch.samples_size());
}

struct Poison {
  const char* name;
  std::function<void(Random&, SampleBatch&)> apply;
};

void put_time_back(Random& random, SampleBatch& batch) {
  constexpr std::array kSteps = {2.5e-3, 1e-9, 10.0, 1e8};
  Sample& sample = any_sample(random, batch);
  sample.set_timestamp(sample.timestamp() - kSteps[draw(random, kSteps.size())]);
}

void put_batch_back(Random& random, SampleBatch& batch) {
  const double back = random() % 2 == 0 ? 0.0205 : 1e6;
  for (Sample& sample : *batch.mutable_samples()) sample.set_timestamp(sample.timestamp() - back);
}

void jump_ahead(Random& random, SampleBatch& batch) {
  constexpr std::array kTimes = {1e9, 9.99e8, 1e6, 3600.0};
  Sample& last = *batch.mutable_samples(batch.samples_size() - 1);
  last.set_timestamp(kTimes[draw(random, kTimes.size())]);
  if (random() % 2 == 0) last.set_sequence(bad_count(random));
}

void repeat_sequence(Random& random, SampleBatch& batch) {
  Sample& sample = any_sample(random, batch);
  const std::uint64_t sequence = sample.sequence();
  sample.set_sequence(random() % 2 == 0 ? sequence - std::min<std::uint64_t>(sequence, 1)
                                        : bad_count(random));
}

void break_arrays(Random& random, SampleBatch& batch) {
  Sample& sample = any_sample(random, batch);
  switch (random() % 5) {
    case 0:
      return sample.clear_valid();
    case 1:
      return sample.add_angle_rad(1.0);
    case 2:
      return sample.clear_encoder_counts();
    case 3:
      for (int k = 0; k < 7; ++k) {
        sample.add_angle_rad(0.0);
        sample.add_encoder_counts(0);
        sample.add_valid(true);
      }
      return;
    default:
      sample.clear_angle_rad();
      sample.clear_encoder_counts();
      sample.clear_valid();
  }
}

void spoil_numbers(Random& random, SampleBatch& batch) {
  Sample& sample = any_sample(random, batch);
  const double bad = bad_number(random);
  switch (random() % 6) {
    case 0:
      return sample.set_timestamp(bad);
    case 1:
      sample.clear_command();
      return sample.add_command(bad);
    case 2:
      return sample.set_angle_rad(0, bad);
    case 3:
      sample.set_valid(0, true);
      return sample.set_angle_rad(0, kNan);
    case 4:
      return sample.set_device_time_us(static_cast<std::int64_t>(bad_count(random)));
    default:
      sample.set_encoder_counts(0, -static_cast<std::int64_t>(bad_count(random) >> 1));
      sample.set_command_sequence(bad_count(random));
      sample.set_error_count(bad_count(random));
      sample.set_fault_flags(~0u);
  }
}

void contradict_gaps(Random& random, SampleBatch& batch) {
  for (std::size_t k = 1 + draw(random, 40); k > 0; --k) {
    auto& gap = *batch.add_gaps();
    const Sample& sample = any_sample(random, batch);
    // Gaps of existing samples, overlapping, empty, and of all possible samples.
    gap.set_timestamp(random() % 4 == 0 ? bad_number(random) : sample.timestamp());
    gap.set_first_sequence(random() % 2 == 0 ? sample.sequence() : bad_count(random));
    gap.set_sample_count(random() % 2 == 0 ? 1 + random() % 100 : bad_count(random));
    gap.set_cause(static_cast<rigcal::v1::Gap::Cause>(random() % 9));
  }
}

void disorder_events(Random& random, SampleBatch& batch) {
  const double start = batch.samples(0).timestamp();
  for (int k = 0; k < 30; ++k) {
    auto& event = *batch.add_events();
    event.set_timestamp(random() % 10 == 0 ? bad_number(random)
                                           : start + 0.01 * std::sin(static_cast<double>(k)));
    event.set_kind(static_cast<rigcal::v1::Event::Kind>(random() % 12));
    event.set_sequence(bad_count(random));
    event.set_value(bad_number(random));
    event.set_limit(bad_number(random));
  }
}

void name_badly(Random& random, SampleBatch& batch) {
  auto& event = *batch.add_events();
  event.set_timestamp(batch.samples(0).timestamp());
  event.set_name(bad_name(random));
  event.set_text(bad_name(random));
  event.set_channel(bad_name(random));
  event.set_unit(bad_name(random));
  if (random() % 3 == 0) event.set_text(std::string(200'000, '"'));
  if (random() % 3 == 0) event.set_name("interrupted");  // as the service itself writes it
}

void fill_black_box(Random& random, SampleBatch& batch) {
  auto& event = *batch.add_events();
  event.set_timestamp(batch.samples(0).timestamp());
  for (int k = 0; k < 2000; ++k) {
    auto& frame = *event.add_last_frames();
    frame.set_timestamp(k % 500 == 0 ? bad_number(random) : 0.0);
    frame.set_frame(std::string(static_cast<std::size_t>(k % 97), '\xff'));
  }
}

void send_commands_anyhow(Random& random, SampleBatch& batch) {
  for (auto& command : *batch.mutable_commands()) {
    if (random() % 4 == 0) command.set_timestamp(-1e8 * static_cast<double>(random() % 12));
    if (random() % 8 == 0) command.add_command_requested(bad_number(random));
    if (random() % 40 == 0) command.add_command(bad_number(random));
    if (random() % 8 == 0) command.set_command_sequence(bad_count(random));
  }
}

void send_fits_anyhow(Random& random, SampleBatch& batch) {
  auto& fit = *batch.add_clock_fits();
  fit.set_rate_error_ppm(random() % 2 == 0 ? -1e6 : bad_number(random));  // a stopped clock
  fit.set_point_count(bad_count(random));
  auto& stats = *batch.add_loop_stats();
  stats.set_cycle_count(bad_count(random));
  stats.set_wakeup_us_max(bad_number(random));
}

void send_no_samples(Random&, SampleBatch& batch) {
  batch.clear_samples();
  batch.clear_commands();
}

// As many empty messages as a frame may hold.
void send_nothings(Random&, SampleBatch& batch) {
  for (int k = 0; k < 30'000; ++k) batch.add_loop_stats();
}

const std::array kPoisons = {
    Poison{"a time stamp that goes back", put_time_back},
    Poison{"a batch before its predecessor", put_batch_back},
    Poison{"the last sample far ahead", jump_ahead},
    Poison{"sequences that do not rise", repeat_sequence},
    Poison{"arrays of different length", break_arrays},
    Poison{"numbers that are none", spoil_numbers},
    Poison{"gaps that contradict", contradict_gaps},
    Poison{"events in no order", disorder_events},
    Poison{"names with escapes and slashes", name_badly},
    Poison{"a black box of thousands of frames", fill_black_box},
    Poison{"commands of any time", send_commands_anyhow},
    Poison{"clock fits and statistics of nothing", send_fits_anyhow},
    Poison{"a batch without samples", send_no_samples},
    Poison{"a batch of empty messages", send_nothings},
};

}  // namespace

std::string poison_batch(Random& random, SampleBatch& batch) {
  const Poison& poison = kPoisons[draw(random, kPoisons.size())];
  poison.apply(random, batch);
  return poison.name;
}

std::string poison_opening(Random& random, OpenSession& open) {
  auto& metadata = *open.mutable_metadata();
  switch (random() % 12) {
    case 0:
      metadata["hinges"] = bad_name(random) + "," + "pendulum";
      return "joints with strange names";
    case 1:
      metadata["hinges"] = random() % 2 == 0 ? "arm,arm" : ",";
      return "joints that are none";
    case 2:
      metadata.clear();
      return "no header";
    case 3:
      metadata["hinges"] = std::string(30'000, 'a') + "," + std::string(30'000, 'b');
      return "joints with huge names";
    case 4:
      metadata[bad_name(random)] = bad_name(random);
      return "facts with strange names";
    case 5:
      metadata["notes"] = std::string(60'000, '\x1b');
      return "a huge fact";
    case 6:
      for (int k = 0; k < 150; ++k) metadata[std::to_string(k) + bad_name(random)] = "";
      return "hundreds of facts";
    case 7:
      for (const char* key : {"session", "epoch_unix_ns", "", "rig", "scenario"}) {
        metadata[key] = bad_name(random);
      }
      return "facts that the service writes itself";
    case 8:
      open.set_epoch_unix_ns(random() % 2 == 0 ? std::numeric_limits<std::int64_t>::max()
                                               : std::numeric_limits<std::int64_t>::min());
      return "an impossible epoch";
    case 9:
      open.set_epoch_unix_ns(random() % 2 == 0 ? 0 : 4'100'000'000'000'000'000);
      return "an epoch at the end of its range";
    case 10:
      open.set_secret(random() % 2 == 0 ? std::string(15, 's') : std::string(3000, 's'));
      return "a secret that is none";
    default:
      open.set_protocol_version(static_cast<std::uint32_t>(bad_count(random)));
      return "another protocol version";
  }
}

}  // namespace campaign
