#include "proto/recording/recording_writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/recording/topics.hpp"

namespace proto {
namespace {

McapMetadata make_metadata(const RecordingHeader& header) {
  McapMetadata metadata{std::string(kHeaderMetadata), header.facts};
  for (const auto& [key, names] : metadata_of_names(header))
    metadata.values.insert_or_assign(key, names);
  metadata.values[std::string(kEpochKey)] = std::to_string(header.epoch_unix_ns);
  metadata.values.insert_or_assign(std::string(kFormatKey), std::string(kFormatVersion));
  return metadata;
}

}  // namespace

// Range of the samples and gaps in one chunk, needed if it cannot be written.
struct SampleExtent {
  bool empty = true;
  double timestamp_s = 0.0;
  std::uint64_t first_sequence = 0;
  std::uint64_t end_sequence = 0;
  std::uint64_t sample_count = 0;

  void include(double time_s, std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    if (empty || first < first_sequence) {
      first_sequence = first;
      timestamp_s = time_s;
    }
    end_sequence = empty ? first + count : std::max(end_sequence, first + count);
    empty = false;
  }

  void include(const SampleExtent& other) {
    if (other.empty) return;
    include(other.timestamp_s, other.first_sequence, other.end_sequence - other.first_sequence);
    sample_count += other.sample_count;
  }
};

class RecordingWriter::Impl {
 public:
  Impl(std::unique_ptr<OutputFile> file, const RecordingHeader& header,
       const McapWriterOptions& options)
      : writer_(std::move(file), options),
        rules_(shape_of(header)),
        epoch_unix_ns_(header.epoch_unix_ns) {
    // Metadata records have no checksum, so the header is repeated in a channel within a chunk.
    add<rigcal::v1::Sample>(kSampleTopic, sample_channel_, make_metadata(header).values);
    for (std::size_t k = 0; k < header.inertial_sensors.size(); ++k) {
      const std::string topic = std::string(kInertialTopics.name) + header.inertial_sensors[k];
      add<rigcal::v1::InertialReading>({topic, kInertialTopics.message_type}, inertial_channel_[k]);
    }
    add<rigcal::v1::Command>(kCommandTopic, command_channel_);
    add<rigcal::v1::Gap>(kGapTopic, gap_channel_);
    add<rigcal::v1::Event>(kEventTopic, event_channel_);
    add<rigcal::v1::ClockFit>(kClockTopic, clock_channel_);
    add<rigcal::v1::LoopStats>(kLoopStatsTopic, loop_stats_channel_);
  }

  Status start(const RecordingHeader& header) {
    if (Status started = writer_.start(); !started.ok()) return started;
    return writer_.write_metadata(make_metadata(header));
  }

  Status write(const Sample& sample) {
    if (const auto breach = rules_.take(sample)) return refusal(*breach);
    to_message(sample, sample_message_);
    Status status = put(sample_channel_, sample.timestamp_s, sample_message_);
    chunk_.include(sample.timestamp_s, sample.sequence, 1);
    ++chunk_.sample_count;
    ++sample_count_;
    return status;
  }

  Status write(const Gap& gap) {
    if (const auto breach = rules_.take(gap)) return refusal(*breach);
    rigcal::v1::Gap message;
    to_message(gap, message);
    Status status = put(gap_channel_, gap.timestamp_s, message);
    chunk_.include(gap.timestamp_s, gap.first_sequence, gap.sample_count);
    return status;
  }

  Status write(const Event& event) {
    if (const auto breach = rules_.take(event)) return refusal(*breach);
    rigcal::v1::Event message;
    to_message(event, message);
    Status status = put(event_channel_, event.timestamp_s, message);
    chunk_events_.push_back(event);
    return status;
  }

  Status write(const InertialReading& reading) {
    if (const auto breach = rules_.take(reading)) return refusal(*breach);
    to_message(reading, inertial_message_);
    return put(inertial_channel_[reading.sensor], reading.timestamp_s, inertial_message_);
  }

  Status write(const Command& command) {
    if (const auto breach = rules_.take(command)) return refusal(*breach);
    rigcal::v1::Command message;
    to_message(command, message);
    return put(command_channel_, command.timestamp_s, message);
  }

  Status write(const ClockFit& fit) {
    if (const auto breach = rules_.take(fit)) return refusal(*breach);
    rigcal::v1::ClockFit message;
    to_message(fit, message);
    return put(clock_channel_, fit.timestamp_s, message);
  }

  Status write(const LoopStats& stats) {
    if (const auto breach = rules_.take(stats)) return refusal(*breach);
    rigcal::v1::LoopStats message;
    to_message(stats, message);
    return put(loop_stats_channel_, stats.timestamp_s, message);
  }

  Status attach(const Attachment& attachment) {
    const auto time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, epoch_unix_ns_));
    return writer_.write_attachment(
        {time_ns, time_ns, attachment.name, attachment.media_type, attachment.data});
  }

  Status flush() {
    Status status = writer_.flush();
    look_for_chunk_end();
    return status;
  }

  Status finish() {
    Status flushed = flush();
    if (!lost_.empty || !lost_events_.empty()) {
      write_losses();
      flushed = flush();
    }
    if (Status completed = writer_.complete(); !completed.ok()) return completed;
    if (Status published = writer_.publish(); !published.ok()) return published;
    // The file is complete, but the caller must know of samples that are missing in it.
    return lost_sample_count_ > 0 && !flushed.ok() ? flushed : success();
  }

  McapWriter& mcap() { return writer_; }
  std::uint64_t sample_count() const { return sample_count_; }
  std::uint64_t lost_sample_count() const { return lost_sample_count_; }

 private:
  template <typename Message>
  void add(const Topic& topic, std::uint16_t& channel, McapMap metadata = {}) {
    channel = add_message_channel(writer_, std::string(topic.name), *Message::descriptor(),
                                  std::move(metadata));
  }

  static Error refusal(const std::string& breach) {
    return {ErrorCode::kUnsupported, "a recording cannot contain this: " + breach};
  }

  // Updates the counts of lost data if a chunk has ended.
  void look_for_chunk_end() {
    const std::uint64_t chunk_count = writer_.statistics().chunk_count;
    const std::uint64_t dropped_count = writer_.dropped_message_count();
    if (chunk_count == chunk_count_ && dropped_count == dropped_count_) return;
    chunk_count_ = chunk_count;
    if (dropped_count != dropped_count_) {
      dropped_count_ = dropped_count;
      lost_sample_count_ += chunk_.sample_count;
      lost_.include(chunk_);
      std::move(chunk_events_.begin(), chunk_events_.end(), std::back_inserter(lost_events_));
    }
    chunk_ = {};
    chunk_events_.clear();
  }

  void write_losses() {
    const SampleExtent lost = std::exchange(lost_, {});
    const std::vector<Event> events = std::exchange(lost_events_, {});
    if (!lost.empty) {
      static_cast<void>(write(Gap{.timestamp_s = lost.timestamp_s,
                                  .first_sequence = lost.first_sequence,
                                  .sample_count = lost.end_sequence - lost.first_sequence,
                                  .cause = GapCause::kStorage}));
    }
    for (const Event& event : events) static_cast<void>(write(event));
  }

  Status put(std::uint16_t channel, double timestamp_s, const google::protobuf::Message& message) {
    payload_.clear();
    message.AppendToString(&payload_);
    const std::int64_t log_time_ns =
        std::max<std::int64_t>(0, epoch_unix_ns_ + std::llround(timestamp_s * 1e9));
    const auto time_ns = static_cast<std::uint64_t>(log_time_ns);
    Status status = writer_.write_message(
        {channel, sequences_[channel]++, time_ns, time_ns, as_bytes(payload_)});
    look_for_chunk_end();
    if (!status.ok()) return status;
    if (!writing_losses_ && (!lost_.empty || !lost_events_.empty())) {
      writing_losses_ = true;
      write_losses();
      writing_losses_ = false;
    }
    return status;
  }

  McapWriter writer_;
  RecordingRules rules_;
  std::int64_t epoch_unix_ns_;
  std::uint16_t sample_channel_ = 0, command_channel_ = 0, gap_channel_ = 0, event_channel_ = 0,
                clock_channel_ = 0, loop_stats_channel_ = 0;
  std::array<std::uint16_t, kInertialCountMax> inertial_channel_{};
  std::array<std::uint32_t, 8 + kInertialCountMax>
      sequences_{};  // sequence numbers of messages, by channel
  rigcal::v1::Sample sample_message_;
  rigcal::v1::InertialReading inertial_message_;
  std::string payload_;

  SampleExtent chunk_;  // of the current chunk
  std::vector<Event> chunk_events_;
  SampleExtent lost_;  // of dropped chunks, not yet listed
  std::vector<Event> lost_events_;
  bool writing_losses_ = false;
  std::uint64_t chunk_count_ = 0;    // chunks written at the last check
  std::uint64_t dropped_count_ = 0;  // messages dropped at the last check
  std::uint64_t sample_count_ = 0;
  std::uint64_t lost_sample_count_ = 0;
};

Result<RecordingWriter> RecordingWriter::create(const std::string& path,
                                                const RecordingHeader& header,
                                                const McapWriterOptions& options) {
  if (const auto breach = find_violation(header)) {
    return Error{ErrorCode::kUnsupported, path + ": cannot be started: " + *breach};
  }
  auto file = create_output_file(path);
  if (!file.ok()) return file.error();
  return create(std::move(file.value()), header, options);
}

Result<RecordingWriter> RecordingWriter::create(std::unique_ptr<OutputFile> file,
                                                const RecordingHeader& header,
                                                const McapWriterOptions& options) {
  if (const auto breach = find_violation(header)) return Error{ErrorCode::kUnsupported, *breach};
  auto impl = std::make_unique<Impl>(std::move(file), header, options);
  if (Status started = impl->start(header); !started.ok()) return started.error();
  return RecordingWriter(std::move(impl));
}

RecordingWriter::RecordingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingWriter::~RecordingWriter() = default;
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;

Status RecordingWriter::write(const Sample& sample) { return impl_->write(sample); }
Status RecordingWriter::write(const InertialReading& reading) { return impl_->write(reading); }
Status RecordingWriter::write(const Command& command) { return impl_->write(command); }
Status RecordingWriter::write(const Gap& gap) { return impl_->write(gap); }
Status RecordingWriter::write(const Event& event) { return impl_->write(event); }
Status RecordingWriter::write(const ClockFit& fit) { return impl_->write(fit); }
Status RecordingWriter::write(const LoopStats& stats) { return impl_->write(stats); }
Status RecordingWriter::attach(const Attachment& attachment) { return impl_->attach(attachment); }
Status RecordingWriter::flush() { return impl_->flush(); }
Status RecordingWriter::sync() { return impl_->mcap().sync(); }
Status RecordingWriter::finish() { return impl_->finish(); }
std::uint64_t RecordingWriter::sample_count() const { return impl_->sample_count(); }
std::uint64_t RecordingWriter::lost_sample_count() const { return impl_->lost_sample_count(); }
std::uint64_t RecordingWriter::size_bytes() const { return impl_->mcap().size_bytes(); }

}  // namespace proto
