#include "proto/recording/recording_writer.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/recording/topics.hpp"

namespace proto {
namespace {

McapMetadata make_metadata(const RecordingHeader& header) {
  McapMetadata metadata{std::string(kHeaderMetadata), header.facts};
  for (const auto& [key, names] : make_name_metadata(header))
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
        rules_(recording_shape(header)),
        epoch_unix_ns_(header.epoch_unix_ns) {
    // Metadata records have no checksum, so the header is repeated in a channel within a chunk.
    const std::uint16_t samples = add<Sample>(kSampleTopic.name, make_metadata(header).values);
    for (const std::string& sensor : header.inertial_sensors) {
      add<InertialReading>(std::string(kInertialTopics.name) + sensor);
    }
    // The channels of inertial sensors follow that of the samples.
    channels_ = {samples,
                 static_cast<std::uint16_t>(samples + 1),
                 add<Command>(kCommandTopic.name),
                 add<Gap>(kGapTopic.name),
                 add<Event>(kEventTopic.name),
                 add<ClockFit>(kClockTopic.name),
                 add<LoopStats>(kLoopStatsTopic.name)};
  }

  Status start(const RecordingHeader& header) {
    if (Status started = writer_.start(); !started.ok()) return started;
    return writer_.write_metadata(make_metadata(header));
  }

  Status write(const RecordingMessage& message) {
    const std::uint16_t channel = channels_[message.index()];
    return std::visit([&](const auto& plain) { return write(plain, channel); }, message);
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
  template <typename Plain>
  std::uint16_t add(std::string_view topic, McapMap metadata = {}) {
    return add_message_channel(writer_, std::string(topic), *MessageOf<Plain>::descriptor(),
                               std::move(metadata));
  }

  template <typename Plain>
  Status write(const Plain& plain, std::uint16_t channel) {
    if (const auto breach = rules_.take(plain)) return refusal(*breach);
    auto& message = std::get<MessageOf<Plain>>(messages_);
    to_message(plain, message);
    if constexpr (std::is_same_v<Plain, InertialReading>) {
      channel = static_cast<std::uint16_t>(channel + plain.sensor);
    }
    Status status = put(channel, plain.timestamp_s, message);
    note(plain);
    return status;
  }

  void note(const Sample& sample) {
    chunk_.include(sample.timestamp_s, sample.sequence, 1);
    ++chunk_.sample_count;
    ++sample_count_;
  }
  void note(const Gap& gap) {
    chunk_.include(gap.timestamp_s, gap.first_sequence, gap.sample_count);
  }
  void note(const Event& event) { chunk_events_.push_back(event); }
  void note(const auto&) {}

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
  std::array<std::uint16_t, std::variant_size_v<RecordingMessage>> channels_{};
  std::array<std::uint32_t, 8 + kInertialCountMax>
      sequences_{};  // sequence numbers of messages, by channel
  std::tuple<rigcal::v1::Sample, rigcal::v1::InertialReading, rigcal::v1::Command, rigcal::v1::Gap,
             rigcal::v1::Event, rigcal::v1::ClockFit, rigcal::v1::LoopStats>
      messages_;  // reused
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

Status RecordingWriter::write(const RecordingMessage& message) { return impl_->write(message); }
Status RecordingWriter::attach(const Attachment& attachment) { return impl_->attach(attachment); }
Status RecordingWriter::flush() { return impl_->flush(); }
Status RecordingWriter::sync() { return impl_->mcap().sync(); }
Status RecordingWriter::finish() { return impl_->finish(); }
std::uint64_t RecordingWriter::sample_count() const { return impl_->sample_count(); }
std::uint64_t RecordingWriter::lost_sample_count() const { return impl_->lost_sample_count(); }
std::uint64_t RecordingWriter::size_bytes() const { return impl_->mcap().size_bytes(); }

}  // namespace proto
