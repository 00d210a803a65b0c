#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/result.hpp"
#include "proto/stream/batch_store.hpp"

namespace proto {

struct SpoolLimits {
  std::uint64_t size_bytes_max = std::uint64_t{1} << 30;  ///< size on disk; two hours at 1 kHz
  std::uint64_t segment_size_bytes = 4u
                                     << 20;  ///< a file is deleted once all of it is acknowledged
};

/// Stores batches for the service on disk, in a folder of files that are named after the number of
/// their first batch. Each file has a magic number and records <u32 size><u32 crc32 of sequence and
/// payload><u64 sequence><payload>.
///
/// After a crash, open() finds all synchronized data, and cuts an incomplete record off the newest
/// file. Damaged records in older files keep their numbers, and read() returns nothing for them. In
/// the newest file, a damaged record cannot be distinguished from an incomplete one.
///
/// After a failed fsync, the kernel marks pages as written although they are not. Neither reading
/// nor another fsync then shows the state of the disk. The spool then refuses to append and to
/// sync. Open it again: open() reads from the disk itself, and all data that it finds are durable.
///
/// Not thread-safe.
class Spool final : public BatchStore {
 public:
  /// Opens the spool in `folder`, which is created if it does not exist. After opening, all batches
  /// in the spool are durable, even if the process that wrote them crashed.
  static Result<Spool> open(const std::string& folder, SpoolLimits limits = {});

  /// Appends a batch.
  /// @return its number; kDiskFull, with nothing appended, if the limit is reached or the disk is
  ///     full
  Result<std::uint64_t> append(std::string_view payload);

  /// Makes all appended batches durable, so that they can be sent.
  Status sync();

  std::uint64_t end() const { return end_; }  ///< number of the next batch
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t damaged_count() const {
    return damaged_count_;
  }  ///< batches that the disk has lost

  std::uint64_t durable_batch_end() const override { return durable_end_; }
  std::uint64_t acknowledged_through() const override { return acknowledged_through_; }
  Result<std::string> read(std::uint64_t sequence) override;
  Status acknowledge(std::uint64_t through) override;

 private:
  struct SpoolFile;
  struct BatchLocation {
    std::uint64_t offset = 0;  // of the payload in its segment; 0: damaged
    std::uint32_t size = 0;
    std::uint32_t crc = 0;  // of sequence and payload
  };

  Spool(std::string folder, SpoolLimits limits);
  Status load();
  Status load_spool_file(std::uint64_t first_sequence, bool last);
  Status start_spool_file();
  std::string spool_file_path(std::uint64_t first_sequence) const;

  std::string folder_;
  SpoolLimits limits_;
  std::deque<std::shared_ptr<SpoolFile>> segments_;  // by sequence; the last one is appended to
  std::uint64_t end_ = 1;
  std::uint64_t durable_end_ = 1;
  std::uint64_t acknowledged_through_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t damaged_count_ = 0;
  std::optional<Error> sync_error_;  // of the first fsync that failed, or of a missing file
};

}  // namespace proto
