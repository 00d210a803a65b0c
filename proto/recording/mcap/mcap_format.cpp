#include "proto/recording/mcap/mcap_format.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include "proto/recording/mcap/byte_cursor.hpp"

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

// Writes a record: its header, the content by `put_content`, and then the length in the header.
template <typename PutContent>
void put_framed(Bytes& out, McapOpcode opcode, const PutContent& put_content) {
  put(out, static_cast<std::uint8_t>(opcode));
  const std::size_t length_at = out.size();
  put(out, std::uint64_t{0});
  put_content();
  put_at(out, length_at, static_cast<std::uint64_t>(out.size() - length_at - 8));
}

// Writes an array: a u32 length in bytes, then the entries.
template <typename PutEntries>
void put_array(Bytes& out, const PutEntries& put_entries) {
  const std::size_t length_at = out.size();
  put(out, std::uint32_t{0});
  put_entries();
  put_at(out, length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

void put_map(Bytes& out, const McapMap& map) {
  put_array(out, [&] {
    for (const auto& [key, value] : map) {
      put_text(out, key);
      put_text(out, value);
    }
  });
}

std::optional<McapMap> take_map(ByteCursor& cursor) {
  ByteCursor entries(cursor.take_bytes(cursor.take<std::uint32_t>()));
  McapMap map;
  while (cursor.ok() && entries.remaining() > 0) {
    std::string key(entries.take_text());
    std::string value(entries.take_text());
    if (!entries.ok() || !map.emplace(std::move(key), std::move(value)).second) {
      return std::nullopt;
    }
  }
  return map;
}

}  // namespace

bool is_known_compression(std::string_view compression) {
  return compression.empty() || compression == "zstd" || compression == "lz4";
}

bool expand_records(std::string_view compression, std::span<const std::uint8_t> records,
                    std::size_t size, Bytes& out) {
  out.resize(size);
  if (compression == "zstd") return expand_zstd(records, out);
  return compression == "lz4" && expand_lz4(records, out);
}

void put_record(Bytes& out, const McapHeader& header) {
  put_framed(out, McapOpcode::kHeader, [&] {
    put_text(out, header.profile);
    put_text(out, header.library);
  });
}

void put_record(Bytes& out, const McapSchema& schema) {
  put_framed(out, McapOpcode::kSchema, [&] {
    put(out, schema.id);
    put_text(out, schema.name);
    put_text(out, schema.encoding);
    put(out, static_cast<std::uint32_t>(schema.data.size()));
    put_bytes(out, schema.data);
  });
}

void put_record(Bytes& out, const McapChannel& channel) {
  put_framed(out, McapOpcode::kChannel, [&] {
    put(out, channel.id);
    put(out, channel.schema_id);
    put_text(out, channel.topic);
    put_text(out, channel.message_encoding);
    put_map(out, channel.metadata);
  });
}

void put_record(Bytes& out, const McapMessage& message) {
  put_framed(out, McapOpcode::kMessage, [&] {
    put(out, message.channel_id);
    put(out, message.sequence);
    put(out, message.log_time_ns);
    put(out, message.publish_time_ns);
    put_bytes(out, message.data);
  });
}

void put_record(Bytes& out, const McapChunk& chunk) {
  put_framed(out, McapOpcode::kChunk, [&] {
    put(out, chunk.start_time_ns);
    put(out, chunk.end_time_ns);
    put(out, chunk.uncompressed_size);
    put(out, chunk.uncompressed_crc);
    put_text(out, chunk.compression);
    put(out, static_cast<std::uint64_t>(chunk.records.size()));
    put_bytes(out, chunk.records);
  });
}

void put_record(Bytes& out, const McapMessageIndex& index) {
  put_framed(out, McapOpcode::kMessageIndex, [&] {
    put(out, index.channel_id);
    put_array(out, [&] {
      for (const auto& [log_time_ns, offset] : index.entries) {
        put(out, log_time_ns);
        put(out, offset);
      }
    });
  });
}

void put_record(Bytes& out, const McapMetadata& metadata) {
  put_framed(out, McapOpcode::kMetadata, [&] {
    put_text(out, metadata.name);
    put_map(out, metadata.values);
  });
}

void put_record(Bytes& out, const McapAttachment& attachment) {
  put_framed(out, McapOpcode::kAttachment, [&] {
    const std::size_t begin = out.size();
    put(out, attachment.log_time_ns);
    put(out, attachment.create_time_ns);
    put_text(out, attachment.name);
    put_text(out, attachment.media_type);
    put(out, static_cast<std::uint64_t>(attachment.data.size()));
    put_bytes(out, attachment.data);
    put(out, crc32(std::span(out).subspan(begin)));
  });
}

void put_record(Bytes& out, const McapStatistics& statistics) {
  put_framed(out, McapOpcode::kStatistics, [&] {
    put(out, statistics.message_count);
    put(out, statistics.schema_count);
    put(out, statistics.channel_count);
    put(out, statistics.attachment_count);
    put(out, statistics.metadata_count);
    put(out, statistics.chunk_count);
    put(out, statistics.start_time_ns);
    put(out, statistics.end_time_ns);
    put_array(out, [&] {
      for (const auto& [channel_id, count] : statistics.channel_message_counts) {
        put(out, channel_id);
        put(out, count);
      }
    });
  });
}

void put_record(Bytes& out, const McapChunkIndex& index) {
  put_framed(out, McapOpcode::kChunkIndex, [&] {
    put(out, index.start_time_ns);
    put(out, index.end_time_ns);
    put(out, index.chunk_offset);
    put(out, index.chunk_size);
    put_array(out, [&] {
      for (const auto& [channel_id, offset] : index.message_index_offsets) {
        put(out, channel_id);
        put(out, offset);
      }
    });
    put(out, index.message_index_size);
    put_text(out, "");  // compression
    put(out, index.records_size);
    put(out, index.records_size);
  });
}

void put_metadata_index(Bytes& out, const McapExtent& extent, const std::string& name) {
  put_framed(out, McapOpcode::kMetadataIndex, [&] {
    put(out, extent.offset);
    put(out, extent.size);
    put_text(out, name);
  });
}

void put_attachment_index(Bytes& out, const McapExtent& extent, const McapAttachment& attachment) {
  put_framed(out, McapOpcode::kAttachmentIndex, [&] {
    put(out, extent.offset);
    put(out, extent.size);
    put(out, attachment.log_time_ns);
    put(out, attachment.create_time_ns);
    put(out, static_cast<std::uint64_t>(attachment.data.size()));
    put_text(out, attachment.name);
    put_text(out, attachment.media_type);
  });
}

void put_summary_offset(Bytes& out, McapOpcode group, const McapExtent& extent) {
  put_framed(out, McapOpcode::kSummaryOffset, [&] {
    put(out, static_cast<std::uint8_t>(group));
    put(out, extent.offset);
    put(out, extent.size);
  });
}

void put_data_end(Bytes& out, std::uint32_t data_crc) {
  put_framed(out, McapOpcode::kDataEnd, [&] { put(out, data_crc); });
}

std::optional<McapHeader> parse_header(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapHeader header;
  header.profile = cursor.take_text();
  header.library = cursor.take_text();
  return cursor.done() ? std::optional(header) : std::nullopt;
}

std::optional<McapSchema> parse_schema(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapSchema schema;
  schema.id = cursor.take<std::uint16_t>();
  schema.name = cursor.take_text();
  schema.encoding = cursor.take_text();
  const auto data = cursor.take_bytes(cursor.take<std::uint32_t>());
  if (!cursor.done() || schema.id == 0) return std::nullopt;
  schema.data.assign(data.begin(), data.end());
  return schema;
}

std::optional<McapChannel> parse_channel(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapChannel channel;
  channel.id = cursor.take<std::uint16_t>();
  channel.schema_id = cursor.take<std::uint16_t>();
  channel.topic = cursor.take_text();
  channel.message_encoding = cursor.take_text();
  auto metadata = take_map(cursor);
  if (!cursor.done() || !metadata) return std::nullopt;
  channel.metadata = std::move(*metadata);
  return channel;
}

std::optional<McapMessage> parse_message(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapMessage message;
  message.channel_id = cursor.take<std::uint16_t>();
  message.sequence = cursor.take<std::uint32_t>();
  message.log_time_ns = cursor.take<std::uint64_t>();
  message.publish_time_ns = cursor.take<std::uint64_t>();
  message.data = cursor.take_bytes(cursor.remaining());
  return cursor.done() ? std::optional(message) : std::nullopt;
}

std::optional<McapChunk> parse_chunk(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapChunk chunk;
  chunk.start_time_ns = cursor.take<std::uint64_t>();
  chunk.end_time_ns = cursor.take<std::uint64_t>();
  chunk.uncompressed_size = cursor.take<std::uint64_t>();
  chunk.uncompressed_crc = cursor.take<std::uint32_t>();
  chunk.compression = cursor.take_text();
  chunk.records = cursor.take_bytes(cursor.take<std::uint64_t>());
  if (!cursor.done()) return std::nullopt;
  if (chunk.compression.empty() && chunk.uncompressed_size != chunk.records.size()) {
    return std::nullopt;
  }
  return chunk;
}

std::optional<McapMetadata> parse_metadata(std::span<const std::uint8_t> content) {
  ByteCursor cursor(content);
  McapMetadata metadata;
  metadata.name = cursor.take_text();
  auto values = take_map(cursor);
  if (!cursor.done() || !values) return std::nullopt;
  metadata.values = std::move(*values);
  return metadata;
}

std::optional<McapAttachment> parse_attachment(std::span<const std::uint8_t> content,
                                               bool& intact) {
  ByteCursor cursor(content);
  McapAttachment attachment;
  attachment.log_time_ns = cursor.take<std::uint64_t>();
  attachment.create_time_ns = cursor.take<std::uint64_t>();
  attachment.name = cursor.take_text();
  attachment.media_type = cursor.take_text();
  const auto data = cursor.take_bytes(cursor.take<std::uint64_t>());
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
  cursor.take_bytes(size);
  return cursor.done() && size % 16 == 0;
}

}  // namespace proto
