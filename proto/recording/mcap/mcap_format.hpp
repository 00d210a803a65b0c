#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace proto {

/// Returns whether chunks with this compression can be read: "zstd", "lz4" (frames), or "" for no
/// compression.
bool is_known_compression(std::string_view compression);

/// Decompresses the records of a chunk into `out`.
/// @param compression  "zstd" or "lz4"
/// @param size         uncompressed size given in the chunk; allocated beforehand
/// @return false if the bytes are damaged, or do not expand to exactly `size`
bool decompress_records(std::string_view compression, std::span<const std::uint8_t> records,
                        std::size_t size, Bytes& out);

/// Format of MCAP files, version 0, as specified at mcap.dev/spec: a magic number, then records <u8
/// opcode><u64 content length><content>, then the magic again. Integers are little-endian, times
/// are nanoseconds, strings and arrays carry a u32 length in bytes.
inline constexpr std::array<std::uint8_t, 8> kMcapMagic = {0x89, 'M', 'C',  'A',
                                                           'P',  '0', '\r', '\n'};

enum class McapOpcode : std::uint8_t {
  kHeader = 0x01,
  kFooter = 0x02,
  kSchema = 0x03,
  kChannel = 0x04,
  kMessage = 0x05,
  kChunk = 0x06,
  kMessageIndex = 0x07,
  kChunkIndex = 0x08,
  kAttachment = 0x09,
  kAttachmentIndex = 0x0A,
  kStatistics = 0x0B,
  kMetadata = 0x0C,
  kMetadataIndex = 0x0D,
  kSummaryOffset = 0x0E,
  kDataEnd = 0x0F,
};

inline constexpr std::size_t kMcapRecordHeaderSize = 9;    // opcode, content length
inline constexpr std::size_t kMcapFooterContentSize = 20;  // summary start, its offsets' start, crc

using McapMap = std::map<std::string, std::string>;

struct McapHeader {
  std::string profile;
  std::string library;
};

/// Schema of messages. Its id is never 0, because 0 means "no schema".
struct McapSchema {
  std::uint16_t id = 0;
  std::string name;
  std::string encoding;
  Bytes data;
  bool operator==(const McapSchema&) const = default;
};

struct McapChannel {
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;
  std::string topic;
  std::string message_encoding;
  McapMap metadata;
  bool operator==(const McapChannel&) const = default;
};

/// One message of an MCAP file. `data` refers to bytes of the caller.
struct McapMessage {
  std::uint16_t channel_id = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time_ns = 0;
  std::uint64_t publish_time_ns = 0;
  std::span<const std::uint8_t> data;
};

struct McapMetadata {
  std::string name;
  McapMap values;
};

struct McapAttachment {
  std::uint64_t log_time_ns = 0;
  std::uint64_t create_time_ns = 0;
  std::string name;
  std::string media_type;
  Bytes data;
};

/// One chunk of an MCAP file. `records` refers to bytes of the caller.
struct McapChunk {
  std::uint64_t start_time_ns = 0;
  std::uint64_t end_time_ns = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;  // 0: not computed
  std::string_view compression;
  std::span<const std::uint8_t> records;
};

/// Index of one channel's messages in one chunk: for each message, its log time and its offset
/// within the chunk's records.
struct McapMessageIndex {
  std::uint16_t channel_id = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
};

struct McapChunkIndex {
  std::uint64_t start_time_ns = 0;
  std::uint64_t end_time_ns = 0;
  std::uint64_t chunk_offset = 0;
  std::uint64_t chunk_size = 0;  // including its record header
  std::vector<std::pair<std::uint16_t, std::uint64_t>> message_index_offsets;
  std::uint64_t message_index_size = 0;
  std::uint64_t records_size = 0;
};

struct McapStatistics {
  std::uint64_t message_count = 0;
  std::uint16_t schema_count = 0;
  std::uint32_t channel_count = 0;
  std::uint32_t attachment_count = 0;
  std::uint32_t metadata_count = 0;
  std::uint32_t chunk_count = 0;
  std::uint64_t start_time_ns = 0;
  std::uint64_t end_time_ns = 0;
  std::map<std::uint16_t, std::uint64_t> channel_message_counts;
};

/// Location of a record in an MCAP file: offset, and size including the record header.
struct McapRecordLocation {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Append one complete record.
void append_record(Bytes& out, const McapHeader& header);
void append_record(Bytes& out, const McapSchema& schema);
void append_record(Bytes& out, const McapChannel& channel);
void append_record(Bytes& out, const McapMessage& message);
void append_record(Bytes& out, const McapChunk& chunk);
void append_record(Bytes& out, const McapMessageIndex& index);
void append_record(Bytes& out, const McapMetadata& metadata);
void append_record(Bytes& out, const McapAttachment& attachment);
void append_record(Bytes& out, const McapStatistics& statistics);
void append_record(Bytes& out, const McapChunkIndex& index);
void append_metadata_index(Bytes& out, const McapRecordLocation& extent, const std::string& name);
void append_attachment_index(Bytes& out, const McapRecordLocation& extent,
                             const McapAttachment& attachment);
void append_summary_offset(Bytes& out, McapOpcode group, const McapRecordLocation& extent);
void append_data_end(Bytes& out, std::uint32_t data_crc);

/// Parse the content of one record, without the record's header. Return nullopt if the content does
/// not match the format exactly. Trailing bytes, which a later format version may add, are also
/// rejected. Lengths have no checksum, so only an exact match confirms that a length is valid.
std::optional<McapHeader> parse_header(std::span<const std::uint8_t> content);
std::optional<McapSchema> parse_schema(std::span<const std::uint8_t> content);
std::optional<McapChannel> parse_channel(std::span<const std::uint8_t> content);
std::optional<McapMessage> parse_message(std::span<const std::uint8_t> content);
std::optional<McapChunk> parse_chunk(std::span<const std::uint8_t> content);
std::optional<McapMetadata> parse_metadata(std::span<const std::uint8_t> content);
/// @param intact  output: whether the attachment's checksum is correct or absent
std::optional<McapAttachment> parse_attachment(std::span<const std::uint8_t> content, bool& intact);
bool is_message_index(std::span<const std::uint8_t> content);

}  // namespace proto
