#include "proto/recording/mcap/mcap_format.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <concepts>
#include <limits>

namespace proto {
namespace {

bool expand_zstd(std::span<const std::uint8_t> records, Bytes& out) {
  const std::size_t written =
      ZSTD_decompress(out.data(), out.size(), records.data(), records.size());
  return ZSTD_isError(written) == 0 && written == out.size();
}

bool expand_lz4(std::span<const std::uint8_t> records, Bytes& out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) return false;
  std::size_t read = 0, written = 0;
  bool fine = true, continues_across_gap = true;
  while (fine && continues_across_gap) {
    std::size_t taken = records.size() - read, made = out.size() - written;
    const std::size_t hint = LZ4F_decompress(context, out.data() + written, &made,
                                             records.data() + read, &taken, nullptr);
    fine = LZ4F_isError(hint) == 0;
    read += taken;
    written += made;
    continues_across_gap = read < records.size() && (taken > 0 || made > 0);
    fine = fine && (continues_across_gap || hint == 0);  // otherwise the frame is incomplete
  }
  LZ4F_freeDecompressionContext(context);
  return fine && read == records.size() && written == out.size();
}

// Write one field of a record: an integer, a text, bytes without their length, or an array of pairs
// with its length in bytes.
void put_field(Bytes& out, std::unsigned_integral auto value) { put(out, value); }
void put_field(Bytes& out, std::string_view text) { append_text(out, text); }
void put_field(Bytes& out, std::span<const std::uint8_t> bytes) { append_bytes(out, bytes); }

template <typename Pairs>
requires requires(const Pairs& pairs) { pairs.begin()->second; }
void put_field(Bytes& out, const Pairs& pairs) {
  const std::size_t length_at = out.size();
  put(out, std::uint32_t{0});
  for (const auto& [first, second] : pairs) {
    put_field(out, first);
    put_field(out, second);
  }
  overwrite_at(out, length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

// Writes a record: its opcode, the length of its content, and the content.
template <typename... Fields>
void put_fields(Bytes& out, McapOpcode opcode, const Fields&... fields) {
  put(out, static_cast<std::uint8_t>(opcode));
  const std::size_t length_at = out.size();
  put(out, std::uint64_t{0});
  (put_field(out, fields), ...);
  overwrite_at(out, length_at, static_cast<std::uint64_t>(out.size() - length_at - 8));
}

std::uint64_t size_of(std::span<const std::uint8_t> data) { return data.size(); }

// Read one field. A map that is not valid makes cursor.ok() false.
template <std::unsigned_integral T>
void take_field(ByteCursor& cursor, T& value) {
  value = cursor.take<T>();
}
void take_field(ByteCursor& cursor, std::string& text) { text = cursor.read_text(); }
void take_field(ByteCursor& cursor, std::string_view& text) { text = cursor.read_text(); }

void take_field(ByteCursor& cursor, McapMap& map) {
  ByteCursor entries(cursor.read_bytes(cursor.take<std::uint32_t>()));
  while (cursor.ok() && entries.remaining_size() > 0) {
    std::string key(entries.read_text());
    std::string value(entries.read_text());
    if (entries.ok() && map.emplace(std::move(key), std::move(value)).second) continue;
    cursor.read_bytes(std::numeric_limits<std::uint64_t>::max());  // fails
  }
}

template <typename... Fields>
void take_fields(ByteCursor& cursor, Fields&... fields) {
  (take_field(cursor, fields), ...);
}

}  // namespace

bool is_known_compression(std::string_view compression) {
  return compression.empty() || compression == "zstd" || compression == "lz4";
}

bool decompress_records(std::string_view compression, std::span<const std::uint8_t> records,
                        std::size_t size, Bytes& out) {
  out.resize(size);
  if (compression == "zstd") return expand_zstd(records, out);
  return compression == "lz4" && expand_lz4(records, out);
}

void append_record(Bytes& out, const McapHeader& header) {
  put_fields(out, McapOpcode::kHeader, header.profile, header.library);
}

void append_record(Bytes& out, const McapSchema& schema) {
  put_fields(out, McapOpcode::kSchema, schema.id, schema.name, schema.encoding,
             static_cast<std::uint32_t>(schema.data.size()), std::span(schema.data));
}

void append_record(Bytes& out, const McapChannel& channel) {
  put_fields(out, McapOpcode::kChannel, channel.id, channel.schema_id, channel.topic,
             channel.message_encoding, channel.metadata);
}

void append_record(Bytes& out, const McapMessage& message) {
  put_fields(out, McapOpcode::kMessage, message.channel_id, message.sequence, message.log_time_ns,
             message.publish_time_ns, message.data);
}

void append_record(Bytes& out, const McapChunk& chunk) {
  put_fields(out, McapOpcode::kChunk, chunk.start_time_ns, chunk.end_time_ns,
             chunk.uncompressed_size, chunk.uncompressed_crc, chunk.compression,
             size_of(chunk.records), chunk.records);
}

void append_record(Bytes& out, const McapMessageIndex& index) {
  put_fields(out, McapOpcode::kMessageIndex, index.channel_id, index.entries);
}

void append_record(Bytes& out, const McapMetadata& metadata) {
  put_fields(out, McapOpcode::kMetadata, metadata.name, metadata.values);
}

void append_record(Bytes& out, const McapAttachment& attachment) {
  const std::size_t begin = out.size() + kMcapRecordHeaderSize;
  put_fields(out, McapOpcode::kAttachment, attachment.log_time_ns, attachment.create_time_ns,
             attachment.name, attachment.media_type, size_of(attachment.data),
             std::span(attachment.data), std::uint32_t{0});
  const std::size_t crc_at = out.size() - sizeof(std::uint32_t);
  overwrite_at(out, crc_at, crc32(std::span(out).subspan(begin, crc_at - begin)));
}

void append_record(Bytes& out, const McapStatistics& statistics) {
  put_fields(out, McapOpcode::kStatistics, statistics.message_count, statistics.schema_count,
             statistics.channel_count, statistics.attachment_count, statistics.metadata_count,
             statistics.chunk_count, statistics.start_time_ns, statistics.end_time_ns,
             statistics.channel_message_counts);
}

void append_record(Bytes& out, const McapChunkIndex& index) {
  constexpr std::string_view kCompression = "";
  put_fields(out, McapOpcode::kChunkIndex, index.start_time_ns, index.end_time_ns,
             index.chunk_offset, index.chunk_size, index.message_index_offsets,
             index.message_index_size, kCompression, index.records_size, index.records_size);
}

void append_metadata_index(Bytes& out, const McapRecordLocation& extent, const std::string& name) {
  put_fields(out, McapOpcode::kMetadataIndex, extent.offset, extent.size, name);
}

void append_attachment_index(Bytes& out, const McapRecordLocation& extent,
                             const McapAttachment& attachment) {
  put_fields(out, McapOpcode::kAttachmentIndex, extent.offset, extent.size, attachment.log_time_ns,
             attachment.create_time_ns, size_of(attachment.data), attachment.name,
             attachment.media_type);
}

void append_summary_offset(Bytes& out, McapOpcode group, const McapRecordLocation& extent) {
  put_fields(out, McapOpcode::kSummaryOffset, static_cast<std::uint8_t>(group), extent.offset,
             extent.size);
}

void append_data_end(Bytes& out, std::uint32_t data_crc) {
  put_fields(out, McapOpcode::kDataEnd, data_crc);
}

std::optional<McapHeader> parse_header(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapHeader header;
  take_fields(cursor, header.profile, header.library);
  return cursor.done() ? std::optional(header) : std::nullopt;
}

std::optional<McapSchema> parse_schema(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapSchema schema;
  take_fields(cursor, schema.id, schema.name, schema.encoding);
  const auto data = cursor.read_bytes(cursor.take<std::uint32_t>());
  if (!cursor.done() || schema.id == 0) return std::nullopt;
  schema.data.assign(data.begin(), data.end());
  return schema;
}

std::optional<McapChannel> parse_channel(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapChannel channel;
  take_fields(cursor, channel.id, channel.schema_id, channel.topic, channel.message_encoding,
              channel.metadata);
  return cursor.done() ? std::optional(std::move(channel)) : std::nullopt;
}

std::optional<McapMessage> parse_message(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapMessage message;
  take_fields(cursor, message.channel_id, message.sequence, message.log_time_ns,
              message.publish_time_ns);
  message.data = cursor.read_bytes(cursor.remaining_size());
  return cursor.done() ? std::optional(message) : std::nullopt;
}

std::optional<McapChunk> parse_chunk(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapChunk chunk;
  take_fields(cursor, chunk.start_time_ns, chunk.end_time_ns, chunk.uncompressed_size,
              chunk.uncompressed_crc, chunk.compression);
  chunk.records = cursor.read_bytes(cursor.take<std::uint64_t>());
  if (!cursor.done()) return std::nullopt;
  if (chunk.compression.empty() && chunk.uncompressed_size != chunk.records.size()) {
    return std::nullopt;
  }
  return chunk;
}

std::optional<McapMetadata> parse_metadata(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapMetadata metadata;
  take_fields(cursor, metadata.name, metadata.values);
  return cursor.done() ? std::optional(std::move(metadata)) : std::nullopt;
}

std::optional<McapAttachment> parse_attachment(std::span<const std::uint8_t> content,
                                               bool& intact) {
  ByteCursor cursor(content);
  McapAttachment attachment;
  take_fields(cursor, attachment.log_time_ns, attachment.create_time_ns, attachment.name,
              attachment.media_type);
  const auto data = cursor.read_bytes(cursor.take<std::uint64_t>());
  const auto crc = cursor.take<std::uint32_t>();
  if (!cursor.done()) return std::nullopt;
  intact = crc == 0 || crc32(content.first(content.size() - 4)) == crc;
  attachment.data.assign(data.begin(), data.end());
  return attachment;
}

bool is_message_index(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  cursor.take<std::uint16_t>();
  const auto size = cursor.take<std::uint32_t>();
  cursor.read_bytes(size);
  return cursor.done() && size % 16 == 0;
}

}  // namespace proto
