#include "proto/recording/mcap/mcap_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace proto {
namespace {

constexpr std::size_t kMessageSizeMax = 16u << 20;  // [byte]
// Reserve for messages about a full disk, in addition to the summary [byte].
constexpr std::uint64_t kReserveSlack = 128u << 10;

}  // namespace

McapWriter::McapWriter(std::unique_ptr<OutputFile> file, McapWriterOptions options)
    : file_(std::move(file)), options_(std::move(options)) {}

Status McapWriter::start() {
  assert(size_bytes_ == 0);
  Bytes block(kMcapMagic.begin(), kMcapMagic.end());
  append_record(block, McapHeader{options_.profile, options_.library});
  return write_block(block).status;
}

std::uint16_t McapWriter::add_channel(const std::string& topic, const std::string& message_encoding,
                                      const std::string& schema_name,
                                      const std::string& schema_encoding,
                                      std::span<const std::uint8_t> schema_data, McapMap metadata) {
  assert(channels_.size() < std::numeric_limits<std::uint16_t>::max());
  std::uint16_t schema_id = 0;
  if (!schema_name.empty()) {
    const auto known =
        std::find_if(schemas_.begin(), schemas_.end(), [&](const McapSchema& schema) {
          return schema.name == schema_name && schema.encoding == schema_encoding &&
                 std::equal(schema.data.begin(), schema.data.end(), schema_data.begin(),
                            schema_data.end());
        });
    if (known == schemas_.end()) {
      schema_id = static_cast<std::uint16_t>(schemas_.size() + 1);
      schemas_.push_back(
          {schema_id, schema_name, schema_encoding, Bytes(schema_data.begin(), schema_data.end())});
    } else {
      schema_id = known->id;
    }
  }
  const auto id = static_cast<std::uint16_t>(channels_.size() + 1);
  channels_.push_back({id, schema_id, topic, message_encoding, std::move(metadata)});
  return id;
}

// Returns the space needed to end the file: the current summary, and messages about the reason.
std::uint64_t McapWriter::reserve_size() const {
  std::uint64_t declarations = 0;
  for (const McapSchema& schema : schemas_) declarations += schema.data.size() + 256;
  const std::uint64_t chunk_index_size = 80 + 10 * channels_.size();
  return declarations + 256 * channels_.size() + chunk_index_size * (chunk_indexes_.size() + 4) +
         metadata_indexes_.size() + attachment_indexes_.size() + 2 * largest_block_ + kReserveSlack;
}

McapWriter::BlockWriteResult McapWriter::write_block(std::span<const std::uint8_t> block) {
  if (broken_) return {false, Error{ErrorCode::kClosed, "the recording failed earlier"}};
  largest_block_ = std::max<std::uint64_t>(largest_block_, block.size());
  Status reserved = file_->reserve(block.size() + reserve_size());
  if (reserved.ok()) {
    reserve_used_ = 0;
  } else {
    // The last granted reserve has room for this block, some more, and the summary.
    reserve_used_ += block.size();
    if (reserve_used_ > largest_block_ + kReserveSlack) return {false, reserved};
  }
  if (Status appended = file_->append(block); !appended.ok()) {
    broken_ = !file_->truncate(size_bytes_).ok();
    return {false, appended};
  }
  size_bytes_ += block.size();
  data_crc_ = crc32(block, data_crc_);
  return {true, reserved};
}

void McapWriter::append_declarations(Bytes& out, std::size_t first_schema,
                                     std::size_t first_channel) const {
  for (std::size_t k = first_schema; k < schemas_.size(); ++k) append_record(out, schemas_[k]);
  for (std::size_t k = first_channel; k < channels_.size(); ++k) append_record(out, channels_[k]);
}

Status McapWriter::write_message(const McapMessage& message) {
  assert(message.channel_id >= 1 && message.channel_id <= channels_.size());
  if (message.data.size() > kMessageSizeMax) {
    return Error{ErrorCode::kTooLarge, "message of " + std::to_string(message.data.size()) +
                                           " bytes on " + channels_[message.channel_id - 1u].topic};
  }
  Status ended = success();
  const std::uint64_t time_ns = message.log_time_ns;
  const bool late = time_ns >= chunk_.first_time_ns &&
                    time_ns - chunk_.first_time_ns >= options_.chunk_duration_ns;
  const bool full = chunk_.records.size() + message.data.size() > options_.chunk_size_bytes_max;
  if (chunk_.message_count > 0 && (late || full)) ended = flush();

  append_declarations(chunk_.records, chunk_schema_count_, chunk_channel_count_);
  chunk_schema_count_ = schemas_.size();
  chunk_channel_count_ = channels_.size();
  if (chunk_.message_count == 0) {
    chunk_.first_time_ns = chunk_.start_time_ns = chunk_.end_time_ns = time_ns;
  }
  chunk_.start_time_ns = std::min(chunk_.start_time_ns, time_ns);
  chunk_.end_time_ns = std::max(chunk_.end_time_ns, time_ns);
  McapMessageIndex& index = chunk_.message_indexes[message.channel_id];
  index.channel_id = message.channel_id;
  index.entries.emplace_back(time_ns, chunk_.records.size());
  append_record(chunk_.records, message);
  ++chunk_.message_count;
  return ended;
}

// Returns new declarations, the chunk and its message indexes, with their offsets in `index`.
Bytes McapWriter::make_chunk_block(McapChunkIndex& index) const {
  Bytes block;
  block.reserve(chunk_.records.size() + 24 * chunk_.message_count + 512);
  append_declarations(block, declared_schema_count_, declared_channel_count_);
  index.start_time_ns = chunk_.start_time_ns;
  index.end_time_ns = chunk_.end_time_ns;
  index.records_size = chunk_.records.size();
  index.chunk_offset = size_bytes_ + block.size();
  append_record(block, McapChunk{chunk_.start_time_ns, chunk_.end_time_ns, chunk_.records.size(),
                                 crc32(chunk_.records), "", chunk_.records});
  const std::uint64_t chunk_end = size_bytes_ + block.size();
  index.chunk_size = chunk_end - index.chunk_offset;
  for (const auto& [channel_id, message_index] : chunk_.message_indexes) {
    index.message_index_offsets.emplace_back(channel_id, size_bytes_ + block.size());
    append_record(block, message_index);
  }
  index.message_index_size = size_bytes_ + block.size() - chunk_end;
  return block;
}

void McapWriter::count_chunk(const McapChunkIndex& index) {
  const bool first = statistics_.message_count == 0;
  statistics_.start_time_ns =
      first ? index.start_time_ns : std::min(statistics_.start_time_ns, index.start_time_ns);
  statistics_.end_time_ns =
      first ? index.end_time_ns : std::max(statistics_.end_time_ns, index.end_time_ns);
  for (const auto& [channel_id, message_index] : chunk_.message_indexes) {
    statistics_.channel_message_counts[channel_id] += message_index.entries.size();
  }
  statistics_.message_count += chunk_.message_count;
  ++statistics_.chunk_count;
  declared_schema_count_ = chunk_schema_count_;
  declared_channel_count_ = chunk_channel_count_;
  statistics_.schema_count = static_cast<std::uint16_t>(declared_schema_count_);
  statistics_.channel_count = static_cast<std::uint32_t>(declared_channel_count_);
}

void McapWriter::clear_chunk() {
  chunk_.records.clear();
  chunk_.message_indexes.clear();
  chunk_.message_count = 0;
  chunk_schema_count_ = declared_schema_count_;
  chunk_channel_count_ = declared_channel_count_;
}

Status McapWriter::flush() {
  if (chunk_.message_count == 0) return success();
  // The block declares everything known so far, and so must the chunk.
  append_declarations(chunk_.records, chunk_schema_count_, chunk_channel_count_);
  chunk_schema_count_ = schemas_.size();
  chunk_channel_count_ = channels_.size();
  McapChunkIndex index;
  const BlockWriteResult outcome = write_block(make_chunk_block(index));
  if (outcome.written) {
    count_chunk(index);
    chunk_indexes_.push_back(std::move(index));
  } else {
    dropped_message_count_ += chunk_.message_count;
  }
  clear_chunk();
  return outcome.status;
}

Status McapWriter::write_metadata(const McapMetadata& metadata) {
  Bytes record, index;
  append_record(record, metadata);
  append_metadata_index(index, {size_bytes_, record.size()}, metadata.name);
  const BlockWriteResult outcome = write_block(record);
  if (outcome.written) {
    append_bytes(metadata_indexes_, index);
    ++statistics_.metadata_count;
  }
  return outcome.status;
}

Status McapWriter::write_attachment(const McapAttachment& attachment) {
  Bytes record, index;
  append_record(record, attachment);
  append_attachment_index(index, {size_bytes_, record.size()}, attachment);
  const BlockWriteResult outcome = write_block(record);
  if (outcome.written) {
    append_bytes(attachment_indexes_, index);
    ++statistics_.attachment_count;
  }
  return outcome.status;
}

// Returns data end, summary, summary offsets, footer and magic, for a file of size_bytes_.
Bytes McapWriter::make_summary_block() const {
  Bytes out;
  append_data_end(out, data_crc_);
  const std::size_t summary_at = out.size();
  Bytes offsets;
  const auto put_group = [&](McapOpcode group, const auto& put_records) {
    const std::size_t begin = out.size();
    put_records();
    if (out.size() == begin) return;
    append_summary_offset(offsets, group, {size_bytes_ + begin, out.size() - begin});
  };
  put_group(McapOpcode::kSchema, [&] {
    for (std::size_t k = 0; k < declared_schema_count_; ++k) append_record(out, schemas_[k]);
  });
  put_group(McapOpcode::kChannel, [&] {
    for (std::size_t k = 0; k < declared_channel_count_; ++k) append_record(out, channels_[k]);
  });
  put_group(McapOpcode::kStatistics, [&] { append_record(out, statistics_); });
  put_group(McapOpcode::kMetadataIndex, [&] { append_bytes(out, metadata_indexes_); });
  put_group(McapOpcode::kAttachmentIndex, [&] { append_bytes(out, attachment_indexes_); });
  put_group(McapOpcode::kChunkIndex, [&] {
    for (const McapChunkIndex& index : chunk_indexes_) append_record(out, index);
  });
  const std::uint64_t offsets_start = size_bytes_ + out.size();
  append_bytes(out, offsets);

  // The summary's CRC covers the footer too, up to the CRC itself.
  put(out, static_cast<std::uint8_t>(McapOpcode::kFooter));
  put(out, std::uint64_t{kMcapFooterContentSize});
  put(out, size_bytes_ + summary_at);
  put(out, offsets_start);
  put(out, crc32(std::span(out).subspan(summary_at)));
  append_bytes(out, kMcapMagic);
  return out;
}

Status McapWriter::complete() {
  // A chunk that does not fit is counted as dropped; the file is completed without it.
  static_cast<void>(flush());
  if (broken_) return Error{ErrorCode::kClosed, "the recording failed earlier"};
  if (Status appended = file_->append(make_summary_block()); !appended.ok()) {
    broken_ = !file_->truncate(size_bytes_).ok();
    return appended;
  }
  return file_->sync();
}

}  // namespace proto
