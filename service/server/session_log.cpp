#include "service/server/session_log.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/server/durable_file.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;
using rigcal::v1::SampleBatch;

constexpr std::uint64_t kSegmentSize = 16u << 20;  // of the log's files [byte]

Result<SampleBatch> read_batch(proto::Spool& spool, std::uint64_t sequence) {
  auto payload = spool.read(sequence);
  if (!payload.ok()) return payload.error();
  SampleBatch batch;
  if (!batch.ParseFromString(payload.value()) || batch.batch_sequence() != sequence) {
    return Error{ErrorCode::kDamaged, "batch " + std::to_string(sequence) +
                                          " is damaged on disk; stop the service and look at the "
                                          "session's spool folder"};
  }
  return batch;
}

// One thing of a batch, to be put in order of time.
struct Entry {
  double timestamp_s;
  std::function<Status(proto::RecordingWriter&)> write;
};

template <typename Messages>
void add_entries(const Messages& messages, std::vector<Entry>& entries) {
  for (const auto& message : messages) {
    auto thing = proto::from_message(message);
    assert(thing.has_value());  // BatchCheck has seen it
    entries.push_back(
        {message.timestamp(), [thing = std::move(*thing)](proto::RecordingWriter& writer) {
           return writer.write(thing);
         }});
  }
}

Status write_batch(const SampleBatch& batch, proto::RecordingWriter& writer) {
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(batch.samples_size() + batch.commands_size()) + 16);
  add_entries(batch.gaps(), entries);
  add_entries(batch.samples(), entries);
  add_entries(batch.commands(), entries);
  add_entries(batch.events(), entries);
  add_entries(batch.clock_fits(), entries);
  add_entries(batch.loop_stats(), entries);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.timestamp_s < b.timestamp_s; });
  for (const Entry& entry : entries) {
    if (Status written = entry.write(writer); !written.ok()) return written;
  }
  return proto::success();
}

Result<std::uint64_t> write_recording(proto::Spool& spool, const std::string& path,
                                      const proto::RecordingHeader& header) {
  std::error_code ignored;
  fs::remove(proto::part_path(path), ignored);  // of a conversion that was interrupted
  auto writer = proto::RecordingWriter::create(path, header);
  if (!writer.ok()) return writer.error();
  for (std::uint64_t sequence = 1; sequence < spool.end(); ++sequence) {
    const auto batch = read_batch(spool, sequence);
    if (!batch.ok()) return batch.error();
    if (Status written = write_batch(batch.value(), writer.value()); !written.ok()) {
      return written.error();
    }
  }
  if (Status finished = writer.value().finish(); !finished.ok()) return finished.error();
  if (writer.value().lost_sample_count() > 0) {
    return Error{ErrorCode::kDiskFull, path + ": samples could not be written"};
  }
  return writer.value().sample_count();
}

Result<StoredRecording> verify(const std::string& path) {
  auto file = proto::open_input_file(path);
  if (!file.ok()) return file.error();
  proto::RecordingVisitor ignore;
  const auto scan = proto::scan_recording(*file.value(), ignore);
  if (!scan.ok()) return scan.error();
  if (!scan.value().container.intact() || scan.value().unreadable_count > 0) {
    return Error{ErrorCode::kVerifyMismatch, path + ": does not read back as it was written"};
  }
  return StoredRecording{scan.value().sample_count, file.value()->size_bytes()};
}

}  // namespace

std::string log_folder(const std::string& session_folder) { return session_folder + "/spool"; }

Result<SessionLog> SessionLog::open(const std::string& folder, std::size_t hinge_count,
                                    std::uint64_t size_bytes_max) {
  auto spool = proto::Spool::open(
      folder, {.size_bytes_max = size_bytes_max, .segment_size_bytes = kSegmentSize});
  if (!spool.ok()) return spool.error();
  if (Status synced = sync_files(folder); !synced.ok()) return synced.error();
  SessionLog log(std::move(spool.value()), hinge_count);
  for (std::uint64_t sequence = 1; sequence < log.spool_.end(); ++sequence) {
    auto batch = read_batch(log.spool_, sequence);
    if (!batch.ok()) return batch.error();
    if (const auto fault = log.check_.take(batch.value())) {
      return Error{ErrorCode::kDamaged, *fault};
    }
    log.sample_count_ += static_cast<std::uint64_t>(batch.value().samples_size());
  }
  log.through_ = log.spool_.end() - 1;
  return log;
}

Status SessionLog::commit(const std::vector<std::string>& batches) {
  Status stored = proto::success();
  for (const std::string& batch : batches) {
    const auto number = spool_.append(batch);
    if (!number.ok()) {
      stored = number.error();
      break;
    }
  }
  if (Status synced = spool_.sync(); !synced.ok()) return synced;
  through_ = spool_.end() - 1;
  return stored;
}

Result<StoredRecording> store_recording(const std::string& folder,
                                        const proto::RecordingHeader& header,
                                        std::uint64_t batch_count) {
  const std::string path = folder + "/recording.mcap";
  std::error_code ignored;
  const bool log_exists = fs::exists(log_folder(folder), ignored);
  std::optional<std::uint64_t> written;
  if (!fs::exists(path, ignored)) {
    if (!log_exists) return Error{ErrorCode::kNotFound, log_folder(folder) + ": is gone"};
    auto spool = proto::Spool::open(log_folder(folder), {.segment_size_bytes = kSegmentSize});
    if (!spool.ok()) return spool.error();
    if (spool.value().end() != batch_count + 1) {
      return Error{ErrorCode::kDamaged, log_folder(folder) + ": holds " +
                                            std::to_string(spool.value().end() - 1) + " of " +
                                            std::to_string(batch_count) + " batches"};
    }
    const auto count = write_recording(spool.value(), path, header);
    if (!count.ok()) {
      fs::remove(proto::part_path(path), ignored);  // others may need the space meanwhile
      return count.error();
    }
    written = count.value();
  }
  auto stored = verify(path);
  if (stored.ok() && written && stored.value().sample_count != *written) {
    stored = Error{ErrorCode::kVerifyMismatch, path + ": samples are missing"};
  }
  if (!stored.ok()) {
    if (log_exists) fs::remove(path, ignored);  // the log still holds everything
    return stored;
  }
  if (log_exists) {
    if (Status removed = remove_folder(log_folder(folder)); !removed.ok()) return removed.error();
  }
  remove_leftovers(folder);
  return stored;
}

}  // namespace service
