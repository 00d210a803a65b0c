#include "proto/recording/recording_recover.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/topics.hpp"

namespace proto {
namespace {

class EndFinder final : public RecordingVisitor {
 public:
  void on_header(const RecordingHeader& header) override { header_ = header; }
  void on_sample(const Sample& sample) override { last_ = sample; }

  const RecordingHeader& header() const { return header_; }
  const std::optional<Sample>& last() const { return last_; }

 private:
  RecordingHeader header_;
  std::optional<Sample> last_;
};

std::string ttl_text(const RecordingHeader& header) {
  const auto ttl_ms = header.facts.find("ttl_ms");
  return ttl_ms == header.facts.end() ? "its time to live"
                                      : "its time to live of " + ttl_ms->second + " ms";
}

McapAddedMessage addition_of(const RecordingHeader& header, const Event& event) {
  rigcal::v1::Event message;
  to_message(event, message);
  const std::int64_t time_ns = header.epoch_unix_ns + std::llround(event.timestamp_s * 1e9);
  return {std::string(kEventTopic.name),
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, time_ns)),
          message.SerializeAsString()};
}

}  // namespace

Event interruption_event(const RecordingHeader& header, const std::optional<Sample>& last) {
  const bool driving = last && last->driving && !last->tripped;
  Event event;
  event.timestamp_s = last ? last->timestamp_s : 0.0;
  event.kind = driving ? EventKind::kTrip : EventKind::kOperator;
  event.name = kInterruptedEvent;
  event.text = driving
                   ? fmt::format(
                         "The recorder ended here without finishing the recording; the unit was "
                         "driving; without commands it switches its output off within {}.",
                         ttl_text(header))
                   : "The recorder ended here without finishing the recording; "
                     "the unit was not driving.";
  event.sequence = last ? last->sequence : 0;
  return event;
}

Result<McapRecovery> recover_recording(const std::string& source, const std::string& destination) {
  auto file = open_input_file(source);
  if (!file.ok()) return file.error();
  EndFinder end;
  const auto scan = scan_recording(*file.value(), end);
  if (!scan.ok() || scan.value().container.finished || !end.last()) {
    return recover_mcap(source, destination);
  }
  const McapAddedMessage addition =
      addition_of(end.header(), interruption_event(end.header(), end.last()));
  return recover_mcap(source, destination, &addition);
}

}  // namespace proto
