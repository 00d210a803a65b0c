#include "proto/recording/recording_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/recording/topics.hpp"

namespace proto {
namespace {

std::optional<RecordingHeader> parse_recording_header(const McapMap& values) {
  McapMap facts = values;
  const auto take = [&](std::string_view key) {
    auto node = facts.extract(std::string(key));
    return node.empty() ? std::string() : std::move(node.mapped());
  };
  if (take(kFormatKey) != kFormatVersion) return std::nullopt;
  const std::string epoch = take(kEpochKey);
  std::optional<RecordingHeader> header = header_from_metadata(take);
  if (!header) return std::nullopt;
  const auto [end, error] =
      std::from_chars(epoch.data(), epoch.data() + epoch.size(), header->epoch_unix_ns);
  if (error != std::errc() || end != epoch.data() + epoch.size()) return std::nullopt;
  header->facts = std::move(facts);
  if (find_violation(*header)) return std::nullopt;
  return header;
}

// Returns the parts of `holes` that no entry of `listed` covers. Sorts both by sequence.
// Gaps do not overlap, because samples are in order.
std::vector<Gap> subtract(const std::vector<Gap>& holes, std::vector<Gap> listed) {
  std::sort(listed.begin(), listed.end(),
            [](const Gap& a, const Gap& b) { return a.first_sequence < b.first_sequence; });
  std::vector<Gap> rest;
  auto next = listed.begin();
  std::uint64_t covered_to = 0;  // by the entries before `next`
  for (const Gap& hole : holes) {
    const std::uint64_t hole_end = hole.first_sequence + hole.sample_count;
    std::uint64_t at = hole.first_sequence;
    while (at < hole_end) {
      while (next != listed.end() && next->first_sequence <= at) {
        covered_to = std::max(covered_to, next->first_sequence + next->sample_count);
        ++next;
      }
      if (covered_to > at) {
        at = covered_to;
        continue;
      }
      const std::uint64_t end =
          next == listed.end() ? hole_end : std::min(hole_end, next->first_sequence);
      rest.push_back({hole.timestamp_s, at, end - at, GapCause::kNotListed});
      at = end;
    }
  }
  return rest;
}

class Decoder final : public McapVisitor {
 public:
  /// @param lists_gaps  false: Gap messages are decoded, but neither stored nor passed on
  Decoder(RecordingVisitor& visitor, bool lists_gaps)
      : visitor_(visitor), lists_gaps_(lists_gaps) {}

  bool on_message(const McapChannel& channel, const McapSchema* schema,
                  const McapMessage& message) override {
    const std::string_view type = schema != nullptr ? std::string_view(schema->name) : "";
    const auto is = [&](const Topic& topic) {
      return channel.topic == topic.name && type == topic.message_type;
    };
    if (is(kSampleTopic)) {
      if (!header_delivered_) deliver_header(channel.metadata);
      decode(sample_message_, message, [&](const Sample& sample) { take_sample(sample); });
    } else if (channel.topic.starts_with(kInertialTopics.name) &&
               type == kInertialTopics.message_type) {
      decode(inertial_message_, message,
             [&](const InertialReading& reading) { visitor_.on_inertial(reading); });
    } else if (is(kGapTopic)) {
      decode(gap_message_, message, [&](const Gap& gap) { take_gap(gap); });
    } else if (is(kCommandTopic)) {
      decode(command_message_, message,
             [&](const Command& command) { visitor_.on_command(command); });
    } else if (is(kEventTopic)) {
      decode(event_message_, message, [&](const Event& event) { visitor_.on_event(event); });
    } else if (is(kClockTopic)) {
      decode(clock_message_, message, [&](const ClockFit& fit) { visitor_.on_clock_fit(fit); });
    } else if (is(kLoopStatsTopic)) {
      decode(loop_stats_message_, message,
             [&](const LoopStats& stats) { visitor_.on_loop_stats(stats); });
    } else {
      ++scan_.foreign_count;
    }
    return true;
  }

  bool on_metadata(const McapMetadata& metadata) override {
    if (metadata.name == kHeaderMetadata && !header_) {
      header_ = parse_recording_header(metadata.values);
    } else {
      visitor_.on_metadata(metadata);
    }
    return true;
  }

  bool on_attachment(const McapAttachment& attachment) override {
    visitor_.on_attachment({attachment.name, attachment.media_type, attachment.data});
    return true;
  }

  // The metadata of the sample channel repeats the header, protected by the chunk's checksum.
  void deliver_header(const McapMap& protected_values) {
    if (auto header = parse_recording_header(protected_values)) header_ = std::move(*header);
    if (header_) {
      rules_ = RecordingRules(recording_shape(*header_));
      visitor_.on_header(*header_);
    }
    header_delivered_ = header_.has_value();
  }

  /// Ends decoding; to be called once at the end. Returns false if the file is not a recording of
  /// this program.
  bool finish() {
    if (!header_delivered_) deliver_header({});
    report_unlisted_holes();
    return header_delivered_;
  }

  RecordingScan& scan() { return scan_; }

 private:
  // Gap messages may follow the samples around them, so unlisted holes are known at the end.
  void report_unlisted_holes() {
    for (const Gap& hole : subtract(holes_, listed_)) visitor_.on_gap(hole);
  }

  template <typename Message, typename Take>
  void decode(Message& reused, const McapMessage& message, const Take& take) {
    const bool parsed =
        reused.ParseFromArray(message.data.data(), static_cast<int>(message.data.size()));
    const auto content = parsed ? from_message(reused) : std::nullopt;
    const RuleViolation breach = content ? rules_.take(*content) : "a message cannot be read";
    if (!breach) return take(*content);
    if (scan_.unreadable_count == 0) scan_.first_violation = *breach;
    ++scan_.unreadable_count;
  }

  void take_sample(const Sample& sample) {
    if (lists_gaps_ && expected_ && sample.sequence > *expected_) {
      holes_.push_back(
          {sample.timestamp_s, *expected_, sample.sequence - *expected_, GapCause::kNotListed});
    }
    expected_ = sample.sequence + 1;
    ++scan_.sample_count;
    visitor_.on_sample(sample);
  }

  void take_gap(const Gap& gap) {
    if (!lists_gaps_) return;
    listed_.push_back(gap);
    visitor_.on_gap(gap);
  }

  RecordingVisitor& visitor_;
  const bool lists_gaps_;
  RecordingRules rules_{0};  // no sample is valid before the header
  std::optional<RecordingHeader> header_;
  bool header_delivered_ = false;
  std::optional<std::uint64_t> expected_;  // sequence of the next sample
  std::vector<Gap> holes_;                 // jumps in sequence
  std::vector<Gap> listed_;                // by gap messages
  rigcal::v1::Sample sample_message_;
  rigcal::v1::InertialReading inertial_message_;
  rigcal::v1::Gap gap_message_;
  rigcal::v1::Command command_message_;
  rigcal::v1::Event event_message_;
  rigcal::v1::ClockFit clock_message_;
  rigcal::v1::LoopStats loop_stats_message_;
  RecordingScan scan_;
};

Result<RecordingScan> scan(const InputFile& file, Decoder& decoder) {
  auto container = scan_mcap(file, decoder);
  if (!container.ok()) return container.error();
  if (!decoder.finish()) {
    return Error{ErrorCode::kDamaged,
                 fmt::format("an MCAP file, but not a recording of this program: "
                             "metadata record {:?} with format_version {} is missing or damaged; "
                             "give an undamaged recording of rigcal-daq or its data as CSV, "
                             "or a ROS 2 bag with sensor_msgs/msg/JointState",
                             kHeaderMetadata, kFormatVersion)};
  }
  decoder.scan().container = std::move(container.value());
  return std::move(decoder.scan());
}

class Collector final : public RecordingVisitor {
 public:
  explicit Collector(Recording& recording) : recording_(recording) {}
  void on_header(const RecordingHeader& header) override { recording_.header = header; }
  void on_sample(const Sample& sample) override { recording_.samples.push_back(sample); }
  void on_inertial(const InertialReading& reading) override {
    recording_.inertial.push_back(reading);
  }
  void on_command(const Command& command) override { recording_.commands.push_back(command); }
  void on_gap(const Gap& gap) override { recording_.gaps.push_back(gap); }
  void on_event(const Event& event) override { recording_.events.push_back(event); }
  void on_clock_fit(const ClockFit& fit) override { recording_.clock_fits.push_back(fit); }
  void on_loop_stats(const LoopStats& stats) override { recording_.loop_stats.push_back(stats); }
  void on_attachment(const Attachment& file) override { recording_.attachments.push_back(file); }

 private:
  Recording& recording_;
};

// Returns the median time between consecutive samples on the unit's clock [µs]; 0: none.
double median_period_us(const std::vector<Sample>& samples) {
  std::vector<double> distances;
  for (std::size_t k = 1; k < samples.size(); ++k) {
    if (samples[k].sequence != samples[k - 1].sequence + 1) continue;
    distances.push_back(
        static_cast<double>(samples[k].device_time_us - samples[k - 1].device_time_us));
  }
  if (distances.empty()) return 0.0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

// Returns whether `next` is the sample one period after `last`.
bool continues(const Sample& last, const Sample& next, double period_us) {
  const auto distance_us = static_cast<double>(next.device_time_us - last.device_time_us);
  return next.sequence == last.sequence + 1 && std::abs(distance_us - period_us) <= 0.5 * period_us;
}

void append_row(const Sample& sample, SeriesSegment& segment) {
  for (std::size_t c = 0; c < sample.channel_count; ++c) {
    segment.angle_rad.push_back(sample.angle_rad[c]);
  }
  segment.command.insert(segment.command.end(), sample.command.begin(),
                         sample.command.begin() + sample.motor_count);
  ++segment.row_count;
}

}  // namespace

Result<RecordingScan> scan_recording(const InputFile& file, RecordingVisitor& visitor) {
  Decoder decoder(visitor, true);
  return scan(file, decoder);
}

Result<RecordingScan> check_recording(const InputFile& file) {
  RecordingVisitor nobody;
  Decoder decoder(nobody, false);
  return scan(file, decoder);
}

Result<Recording> read_recording(const InputFile& file, std::uint64_t size_bytes_max) {
  if (file.size_bytes() > size_bytes_max) {
    return Error{ErrorCode::kTooLarge,
                 "has " + std::to_string(file.size_bytes()) + " bytes, more than the " +
                     std::to_string(size_bytes_max) + " that can be read into memory"};
  }
  Recording recording;
  Collector collector(recording);
  auto scan = scan_recording(file, collector);
  if (!scan.ok()) return scan.error();
  recording.scan = std::move(scan.value());
  std::stable_sort(recording.gaps.begin(), recording.gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.first_sequence < b.first_sequence; });
  return recording;
}

Result<Recording> read_recording(const std::string& path) {
  auto file = open_input_file(path);
  if (!file.ok()) return file.error();
  auto recording = read_recording(*file.value());
  if (!recording.ok()) {
    return Error{recording.error().code, path + ": " + recording.error().detail};
  }
  return recording;
}

double find_release_time(const std::vector<Event>& events) {
  bool awaited = false;
  for (const Event& event : events) {
    if (event.kind != EventKind::kScenario) continue;
    if (event.name == "waiting for hold") awaited = true;
    if (awaited && event.name == "running") return event.timestamp_s;
  }
  return (awaited ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

Result<Series> make_uniform_series(const Recording& recording) {
  const std::vector<Sample>& samples = recording.samples;
  const double period_us = median_period_us(samples);
  if (period_us <= 0.0) {
    return Error{ErrorCode::kDamaged,
                 "the recording contains no two consecutive samples with increasing time"};
  }
  const double rate_error_ppm =
      recording.clock_fits.empty() ? 0.0 : recording.clock_fits.back().rate_error_ppm;
  const double period_s = 1e-6 * period_us / (1.0 + 1e-6 * rate_error_ppm);

  Series series{recording.header.joints, recording_shape(recording.header).commands(), {}};
  for (std::size_t k = 0; k < samples.size();) {
    SeriesSegment segment;
    segment.start_s = samples[k].timestamp_s;
    segment.period_s = period_s;
    segment.first_sequence = samples[k].sequence;
    append_row(samples[k++], segment);
    while (k < samples.size() && continues(samples[k - 1], samples[k], period_us)) {
      append_row(samples[k++], segment);
    }
    if (segment.row_count > 1) series.segments.push_back(std::move(segment));
  }
  return series;
}

}  // namespace proto
