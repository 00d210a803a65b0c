#include "service/server/storage/store_recording.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/session_log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;
using rigcal::v1::SampleBatch;

/// Name of the event in a recording that reports omitted messages.
constexpr const char* kLeftOutEvent = "left out";

// Chunks end by size alone. Losing one in a crash is harmless, as the log still holds everything.
// Ending them by time would multiply the size of a session with sparse messages.
proto::McapWriterOptions writer_options() {
  proto::McapWriterOptions options;
  options.chunk_duration_ns = std::numeric_limits<std::uint64_t>::max();
  return options;
}

// Writes the readable, valid part of a log as a recording.
class LogWriter {
 public:
  LogWriter(proto::RecordingWriter writer, proto::RecordingHeader header)
      : writer_(std::move(writer)), header_(std::move(header)) {}

  /// Writes the valid messages of a batch.
  /// @return disk errors only
  Status write(const SampleBatch& batch) {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(batch.samples_size() + batch.commands_size()) + 16);
    add_entries(batch.gaps(), entries);
    add_entries(batch.samples(), entries);
    add_entries(batch.inertial(), entries);  // after the sample of the same time
    add_entries(batch.commands(), entries);
    add_entries(batch.events(), entries);
    add_entries(batch.clock_fits(), entries);
    add_entries(batch.loop_stats(), entries);
    std::ranges::stable_sort(entries, {}, &Entry::timestamp_s);
    for (const Entry& entry : entries) {
      const Status written = entry.write();
      if (written.ok()) continue;
      if (written.error().code != ErrorCode::kUnsupported) return written;
      leave_out(1, written.error().detail);
    }
    return proto::success();
  }

  void leave_out(std::uint64_t count, const std::string& why) {
    if (left_out_count_ == 0) left_out_why_ = why;
    left_out_count_ += count;
  }

  /// Writes the final events and renames the file to its final name.
  Status finish(bool interrupted) {
    Status written = proto::success();
    if (left_out_count_ > 0) {
      written = write_event(
          {.kind = proto::EventKind::kStorage, .name = kLeftOutEvent, .text = problem()});
    }
    if (written.ok() && interrupted)
      written = write_event(proto::interruption_event(header_, last_));
    if (!written.ok()) return written;
    if (Status finished = writer_.finish(); !finished.ok()) return finished;
    if (writer_.lost_sample_count() == 0) return proto::success();
    return Error{ErrorCode::kDiskFull, "samples could not be written"};
  }

  std::uint64_t sample_count() const { return writer_.sample_count(); }

  std::string problem() const {
    if (left_out_count_ == 0) return {};
    return std::to_string(left_out_count_) +
           (left_out_count_ == 1 ? " message or batch is" : " messages or batches are") +
           " omitted from the recording; the first: " + left_out_why_;
  }

 private:
  // One message of a batch, to be sorted by time.
  struct Entry {
    double timestamp_s;
    std::function<Status()> write;
  };

  // Keeps the order within each kind of message, whatever the timestamps: samples out of sequence
  // would be rejected.
  template <typename Messages>
  void add_entries(const Messages& messages, std::vector<Entry>& entries) {
    double latest_s = -std::numeric_limits<double>::infinity();
    for (const auto& message : messages) {
      auto thing = proto::from_message(message);
      if (!thing) {
        leave_out(1, "a sample or reading whose arrays differ in length");
        continue;
      }
      if (message.timestamp() > latest_s) latest_s = message.timestamp();
      entries.push_back({latest_s, [this, thing = std::move(*thing)] {
                           const Status written = writer_.write(thing);
                           if constexpr (std::is_same_v<decltype(thing), const proto::Sample>) {
                             if (written.ok()) last_ = thing;
                           }
                           return written;
                         }});
    }
  }

  Status write_event(proto::Event event) {
    event.timestamp_s = last_ ? last_->timestamp_s : 0.0;
    event.sequence = last_ ? last_->sequence : 0;
    return writer_.write(event);
  }

  proto::RecordingWriter writer_;
  proto::RecordingHeader header_;
  std::optional<proto::Sample> last_;
  std::uint64_t left_out_count_ = 0;
  std::string left_out_why_;
};

Status write_batches(proto::Spool& spool, std::uint64_t batch_count, LogWriter& writer) {
  for (std::uint64_t sequence = 1; sequence < spool.end(); ++sequence) {
    const auto batch = read_batch(spool, sequence);
    if (!batch.ok() && batch.error().code != ErrorCode::kDamaged) return batch.error();
    if (!batch.ok()) {
      writer.leave_out(1, batch.error().detail);
    } else if (Status written = writer.write(batch.value()); !written.ok()) {
      return written;
    }
  }
  if (spool.end() <= batch_count) {
    writer.leave_out(batch_count + 1 - spool.end(),
                     "batch " + std::to_string(spool.end()) + " is missing on the service's disk");
  }
  return proto::success();
}

// Writes a log as a recording under its final name; the log stays.
Result<StoredRecording> write_recording(const std::string& folder, const std::string& path,
                                        const proto::RecordingHeader& header,
                                        const StoreRecordingRequest& order) {
  auto spool = proto::Spool::open(session_log_folder(folder), {.segment_size_bytes = kLogFileSize});
  if (!spool.ok()) return spool.error();
  auto file = proto::RecordingWriter::create(path, header, writer_options());
  if (!file.ok()) return file.error();
  LogWriter writer(std::move(file.value()), header);
  Status written = write_batches(spool.value(), order.batch_count, writer);
  if (written.ok()) written = writer.finish(order.interrupted);
  if (!written.ok()) return written.error();
  return StoredRecording{writer.sample_count(), 0, writer.problem()};
}

// Checks that a recording can be read; on the last try, damage by the disk is accepted.
Status verify(const std::string& path, bool damage_allowed, StoredRecording& stored) {
  auto file = proto::open_input_file(path, proto::SymlinkPolicy::kRefuse);
  if (!file.ok()) return file.error();
  const auto scan = proto::check_recording(*file.value());
  if (!scan.ok()) return scan.error();
  const bool whole = scan.value().container.intact() && scan.value().unreadable_count == 0 &&
                     scan.value().sample_count == stored.sample_count;
  if (!whole && !damage_allowed) {
    return Error{ErrorCode::kVerifyMismatch,
                 path + ": verification failed: the file differs from what was written"};
  }
  if (!whole) {
    stored.problem = "of " + std::to_string(stored.sample_count) + " samples " +
                     std::to_string(scan.value().sample_count) +
                     " can be read back from the service's disk; " + stored.problem;
  }
  stored.sample_count = scan.value().sample_count;
  stored.size_bytes = file.value()->size_bytes();
  return proto::success();
}

// Checks for space first, since the recording is larger than its log.
Status check_space_for(const std::string& folder) {
  const std::uint64_t needed = folder_size_bytes(session_log_folder(folder));
  const std::uint64_t free = free_disk_space_bytes(folder);
  if (free >= needed) return proto::success();
  return Error{ErrorCode::kDiskFull, "the service's disk has " + std::to_string(free / 1000) +
                                         " kB left, and the recording needs more than " +
                                         std::to_string(needed / 1000) +
                                         " kB; delete sessions or make room"};
}

}  // namespace

Result<StoredRecording> store_recording(const std::string& folder,
                                        const proto::RecordingHeader& header,
                                        const StoreRecordingRequest& order) {
  const std::string path = folder + "/recording.mcap";
  std::error_code ignored;
  if (!fs::exists(session_log_folder(folder), ignored)) {
    // The log is deleted last, after the recording was verified.
    StoredRecording stored;
    const Status verified = verify(path, true, stored);
    if (!verified.ok()) return verified.error();
    stored.problem.clear();
    return stored;
  }
  fs::remove(path, ignored);  // from an interrupted try; the log has everything
  fs::remove(proto::part_file_path(path), ignored);
  if (Status space = check_space_for(folder); !space.ok()) return space.error();
  auto stored = write_recording(folder, path, header, order);
  if (!stored.ok()) {
    fs::remove(proto::part_file_path(path), ignored);  // free the space for others meanwhile
    return stored;
  }
  if (Status verified = verify(path, order.last_try, stored.value()); !verified.ok()) {
    fs::remove(path, ignored);
    return verified.error();
  }
  const auto checksum = compute_checksum(path);
  if (!checksum.ok()) return checksum.error();
  const Status written = write_checksums(folder, {{"recording.mcap", checksum.value()}});
  if (!written.ok()) return written.error();
  if (stored.value().problem.empty()) {
    if (Status removed = remove_folder(session_log_folder(folder)); !removed.ok())
      return removed.error();
  }
  delete_unfinished_entries(folder);
  return stored;
}

}  // namespace service
