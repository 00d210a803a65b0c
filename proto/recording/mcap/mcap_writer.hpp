#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_format.hpp"
#include "proto/result.hpp"

namespace proto {

struct McapWriterOptions {
  std::string profile = {};
  std::string library = "rigcal";
  /// Longest time from the first to the last message of a chunk [ns]. A crash loses one chunk.
  std::uint64_t chunk_duration_ns = 250'000'000;
  /// Size at which a chunk ends, regardless of its duration.
  std::size_t chunk_size_bytes_max = 1 << 20;
};

/// Writes an uncompressed MCAP file: chunks with CRC and message indexes, a CRC over the data
/// section, and a summary with schemas, channels, statistics, all indexes and summary offsets.
///
/// Blocks are written atomically (a chunk with its indexes, a metadata record, the summary). If a
/// block cannot be written, it is dropped and counted, and the file is truncated to the block
/// before, so that it always is a sequence of intact records. The next block may fit.
///
/// A full disk is detected early, because space for the summary and some more blocks is reserved
/// beyond the end. kDiskFull from a write has two possible meanings. Either the reserve is now in
/// use: dropped_message_count() did not increase, and there is space for the reason and for
/// finish(). Or a block was dropped. In both cases, stop recording, write the reason, and finish.
///
/// Schemas and channels are written before the first chunk that needs them, and again within it.
///
/// Not thread-safe, except sync().
class McapWriter {
 public:
  McapWriter(std::unique_ptr<OutputFile> file, McapWriterOptions options);
  ~McapWriter() = default;  // leaves an unfinished file unchanged, for `rigcal recover`
  McapWriter(McapWriter&&) noexcept = default;
  McapWriter& operator=(McapWriter&&) noexcept = default;

  /// Writes the start of the file: magic number and header. Must be called first.
  Status start();

  /// Declares a channel for messages of one topic; at most 65 535 channels. Channels with equal
  /// schemas share one schema record. An empty schema name means no schema.
  /// @return the channel's id for write_message
  std::uint16_t add_channel(const std::string& topic, const std::string& message_encoding,
                            const std::string& schema_name, const std::string& schema_encoding,
                            std::span<const std::uint8_t> schema_data, McapMap metadata = {});

  /// Appends a message to the current chunk, or to a new chunk if the current one has reached its
  /// duration or size. Returns the status of writing the ended chunk. The message itself is always
  /// accepted, unless it is larger than 16 MiB (kTooLarge).
  Status write_message(const McapMessage& message);

  Status write_metadata(const McapMetadata& metadata);
  Status write_attachment(const McapAttachment& attachment);

  /// Ends the current chunk and passes it to the operating system.
  Status flush();

  /// Makes all flushed data durable. May be called from another thread during a write.
  Status sync() { return file_->sync(); }

  /// Writes the current chunk and the summary. The file is then a complete recording under its
  /// temporary name.
  Status complete();

  /// Gives the completed file its final name. Never replaces a file.
  Status publish() { return file_->publish(); }

  const McapStatistics& statistics() const { return statistics_; }

  /// Returns the number of messages that were lost because their block could not be written.
  std::uint64_t dropped_message_count() const { return dropped_message_count_; }

  /// Returns the size of the intact blocks in the file [byte].
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  // The current chunk: its records and the data for its indexes.
  struct OpenChunk {
    Bytes records;
    std::map<std::uint16_t, McapMessageIndex> message_indexes;  // by channel
    std::uint64_t message_count = 0;
    std::uint64_t first_time_ns = 0;  // time of its first message
    std::uint64_t start_time_ns = 0;
    std::uint64_t end_time_ns = 0;
  };

  // A block may be written although the status reports that the reserve is in use.
  struct BlockWriteResult {
    bool written;
    Status status;
  };

  BlockWriteResult write_block(std::span<const std::uint8_t> block);
  void append_declarations(Bytes& out, std::size_t first_schema, std::size_t first_channel) const;
  Bytes make_chunk_block(McapChunkIndex& index) const;
  void count_chunk(const McapChunkIndex& index);
  void clear_chunk();
  std::uint64_t reserve_size() const;
  Bytes make_summary_block() const;

  std::unique_ptr<OutputFile> file_;
  McapWriterOptions options_;

  std::vector<McapSchema> schemas_;
  std::vector<McapChannel> channels_;
  std::size_t declared_schema_count_ = 0;  // in the file
  std::size_t declared_channel_count_ = 0;
  std::size_t chunk_schema_count_ = 0;  // in the file or in the open chunk
  std::size_t chunk_channel_count_ = 0;

  OpenChunk chunk_;
  std::vector<McapChunkIndex> chunk_indexes_;
  Bytes metadata_indexes_;
  Bytes attachment_indexes_;
  McapStatistics statistics_;
  std::uint64_t dropped_message_count_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t largest_block_ = 0;
  std::uint64_t reserve_used_ = 0;
  std::uint32_t data_crc_ = 0;
  bool broken_ = false;  // the file could not be truncated to an intact end
};

}  // namespace proto
