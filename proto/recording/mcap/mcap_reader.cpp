#include "proto/recording/mcap/mcap_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "proto/recording/mcap/byte_cursor.hpp"

namespace proto {
namespace {

constexpr std::uint64_t kRecordSizeMax = 64u << 20;  // content of one record [byte]
constexpr std::uint64_t kExpandedFree = 1u << 30;    // all chunks of a file may expand to [byte]
constexpr std::uint64_t kExpandedShare = 256;        // plus this many times the file's size
constexpr std::size_t kProblemsMax = 16;
constexpr auto kOpcodeMax = static_cast<std::uint8_t>(McapOpcode::kDataEnd);
constexpr std::size_t kSearchWindow =
    64u << 10;  // bytes read at once while searching for a chunk [byte]
constexpr std::size_t kChunkFixedSize = 40;     // content of a chunk without name and records
constexpr std::size_t kCompressionNameMax = 4;  // longest name of a known compression

struct Declarations {
  std::map<std::uint16_t, McapSchema> schemas;
  std::map<std::uint16_t, McapChannel> channels;

  bool take(McapOpcode opcode, std::span<const std::uint8_t> content);
  void merge(Declarations&& newer);
};

// Adds or replaces a schema or channel; returns false if the content is not valid.
bool Declarations::take(McapOpcode opcode, std::span<const std::uint8_t> content) {
  if (opcode == McapOpcode::kSchema) {
    auto schema = parse_schema(content);
    if (schema) schemas[schema->id] = std::move(*schema);
    return schema.has_value();
  }
  auto channel = parse_channel(content);
  if (channel) channels[channel->id] = std::move(*channel);
  return channel.has_value();
}

void Declarations::merge(Declarations&& newer) {
  for (auto& [id, schema] : newer.schemas) schemas[id] = std::move(schema);
  for (auto& [id, channel] : newer.channels) channels[id] = std::move(channel);
}

// Content of an intact chunk.
struct ChunkContent {
  Declarations declarations;
  std::vector<McapMessage> messages;
};

struct RecordHeader {
  McapOpcode opcode;
  std::uint64_t size;
};

// Returns whether a complete chunk with consistent sizes and a checksum may start with these bytes.
bool may_start_chunk(std::span<const std::uint8_t> bytes, std::uint64_t remaining) {
  ByteCursor cursor(bytes);
  if (cursor.take<std::uint8_t>() != static_cast<std::uint8_t>(McapOpcode::kChunk)) return false;
  const auto size = cursor.take<std::uint64_t>();
  if (size > kRecordSizeMax || size > remaining - kMcapRecordHeaderSize) return false;
  cursor.read_bytes(16);
  const auto uncompressed_size = cursor.take<std::uint64_t>();
  const auto crc = cursor.take<std::uint32_t>();
  const std::string_view compression = cursor.read_text();
  const auto records_size = cursor.take<std::uint64_t>();
  return cursor.ok() && crc != 0 && is_known_compression(compression) &&
         (!compression.empty() || uncompressed_size == records_size) &&
         size == records_size + compression.size() + kChunkFixedSize;
}

class Scanner {
 public:
  Scanner(const InputFile& file, McapVisitor& visitor)
      : file_(file),
        visitor_(visitor),
        size_(file.size_bytes()),
        search_budget_(4 * size_),
        expansion_budget_(kExpandedFree + kExpandedShare * size_) {}

  Result<McapScan> run() {
    if (Status opened = read_opening(); !opened.ok()) return opened.error();
    while (!stopped_ && !ended_) {
      if (Status stepped = step(); !stepped.ok()) return stepped.error();
    }
    const std::uint64_t end = ended_ ? size_ : std::max(offset_, used_end_);
    scan_.skipped_bytes = end - used_bytes_;
    return std::move(scan_);
  }

 private:
  Status read_opening();
  Status step();
  Status take_record(const RecordHeader& header);
  Status take_chunk(std::uint64_t record_end);
  Status take_ending();
  bool summary_is_intact(std::uint64_t summary_start) const;
  Result<bool> expand(McapChunk& chunk);
  std::optional<std::string> check_chunk(const McapChunk& chunk, ChunkContent& content) const;
  void deliver(const std::vector<McapMessage>& messages);
  bool is_cut_attachment(std::uint64_t size) const;
  Status resynchronise(const std::string& reason);
  Result<std::optional<std::uint64_t>> find_chunk(std::uint64_t from);
  Result<bool> verify_candidate(std::uint64_t offset);
  Status read_content(std::uint64_t offset, std::uint64_t size);
  void note(std::uint64_t offset, const std::string& text);
  void keep(std::uint64_t end);
  std::uint64_t remaining_size() const { return size_ - offset_; }

  const InputFile& file_;
  McapVisitor& visitor_;
  const std::uint64_t size_;
  std::uint64_t offset_ = 0;
  std::uint64_t trusted_end_ = 0;   // end of the last record that parsed exactly
  std::uint64_t used_bytes_ = 0;    // bytes in records that were used or may be skipped
  std::uint64_t used_end_ = 0;      // end of the last such record
  std::uint64_t searched_to_ = 0;   // no chunk starts between trusted_end_ and here
  std::uint64_t search_budget_;     // bytes that may still be read to verify candidates [byte]
  std::uint64_t expansion_budget_;  // bytes that compressed chunks may still expand to [byte]
  std::uint32_t data_crc_ = 0;
  bool data_crc_known_ = true;
  bool ended_ = false;    // the end of the file was reached
  bool stopped_ = false;  // the visitor ended the scan
  Declarations declarations_;
  Bytes content_, expanded_;
  McapScan scan_;
};

void Scanner::note(std::uint64_t offset, const std::string& text) {
  if (scan_.problems.size() < kProblemsMax) {
    scan_.problems.push_back("byte " + std::to_string(offset) + ": " + text);
  }
}

// Counts the bytes from offset_ to `end` as used, each once, although a search may return to before
// a record whose length was trusted.
void Scanner::keep(std::uint64_t end) {
  const std::uint64_t begin = std::max(offset_, used_end_);
  if (end > begin) used_bytes_ += end - begin;
  used_end_ = std::max(used_end_, end);
}

Status Scanner::read_content(std::uint64_t offset, std::uint64_t size) {
  content_.resize(static_cast<std::size_t>(size));
  return file_.read(offset, content_);
}

Status Scanner::read_opening() {
  std::array<std::uint8_t, kMcapMagic.size()> magic{};
  const std::string remedy =
      "; give a recording of rigcal-daq or a single-file ROS 2 bag; "
      "files of other formats need their own extension (.csv, .mat, .h5)";
  if (size_ < magic.size())
    return Error{ErrorCode::kDamaged, "too short to be an MCAP file" + remedy};
  if (Status read = file_.read(0, magic); !read.ok()) return read;
  if (magic != kMcapMagic)
    return Error{ErrorCode::kDamaged, "does not start as an MCAP file" + remedy};
  data_crc_ = crc32(magic);
  keep(magic.size());
  offset_ = trusted_end_ = magic.size();
  return success();
}

// Reads one record, or continues after a damaged one.
Status Scanner::step() {
  if (remaining_size() == 0) {
    ended_ = true;
    note(offset_, "the recording was cut off here");
    return success();
  }
  if (remaining_size() < kMcapRecordHeaderSize)
    return resynchronise("the file ends inside a record");
  std::array<std::uint8_t, kMcapRecordHeaderSize> bytes{};
  if (Status read = file_.read(offset_, bytes); !read.ok()) return read;
  ByteCursor cursor(bytes);
  const auto opcode = static_cast<McapOpcode>(cursor.take<std::uint8_t>());
  const RecordHeader header{opcode, cursor.take<std::uint64_t>()};
  if (header.size > remaining_size() - kMcapRecordHeaderSize) {
    // An attachment may be a recording itself, whose chunks must not be found.
    if (opcode == McapOpcode::kAttachment && is_cut_attachment(header.size)) search_budget_ = 0;
    return resynchronise("the file ends inside a record");
  }
  if (header.size > kRecordSizeMax) return resynchronise("a record is larger than 64 MiB");
  if (Status read = read_content(offset_ + kMcapRecordHeaderSize, header.size); !read.ok()) {
    return read;
  }
  if (opcode != McapOpcode::kDataEnd) data_crc_ = crc32(content_, crc32(bytes, data_crc_));
  return take_record(header);
}

Status Scanner::take_record(const RecordHeader& header) {
  const std::uint64_t record_end = offset_ + kMcapRecordHeaderSize + header.size;
  bool exact = true;
  switch (header.opcode) {
    case McapOpcode::kHeader: {
      const auto parsed = parse_header(content_);
      exact = parsed.has_value() && offset_ == kMcapMagic.size();
      if (exact) scan_.header = *parsed;
      break;
    }
    case McapOpcode::kSchema:
    case McapOpcode::kChannel:
      exact = declarations_.take(header.opcode, content_);
      break;
    case McapOpcode::kChunk:
      return take_chunk(record_end);
    case McapOpcode::kMessageIndex:
      exact = is_message_index(content_);
      break;
    case McapOpcode::kMetadata: {
      const auto metadata = parse_metadata(content_);
      exact = metadata.has_value();
      if (exact && !visitor_.on_metadata(*metadata)) stopped_ = true;
      break;
    }
    case McapOpcode::kAttachment: {
      bool intact = false;
      const auto attachment = parse_attachment(content_, intact);
      exact = attachment.has_value();
      if (exact && !intact) note(offset_, "checksum of an attachment is wrong");
      if (exact && intact && !visitor_.on_attachment(*attachment)) stopped_ = true;
      break;
    }
    case McapOpcode::kMessage:
      note(offset_, "messages outside chunks have no checksum and are not read");
      break;
    case McapOpcode::kDataEnd:
      return take_ending();
    default:
      // A record of an unknown type is skipped, but its length does not become trusted.
      exact = static_cast<std::uint8_t>(header.opcode) > kOpcodeMax;
      if (!exact) break;
      keep(record_end);
      offset_ = record_end;
      return success();
  }
  if (!exact) return resynchronise("a record is damaged");
  keep(record_end);
  offset_ = trusted_end_ = record_end;
  return success();
}

// Returns why a chunk cannot be used, or nothing and its content.
std::optional<std::string> Scanner::check_chunk(const McapChunk& chunk,
                                                ChunkContent& content) const {
  if (chunk.uncompressed_crc != 0 && crc32(chunk.records) != chunk.uncompressed_crc) {
    return "checksum of a chunk is wrong";
  }
  ByteCursor cursor(chunk.records);
  while (cursor.remaining_size() > 0) {
    const auto opcode = static_cast<McapOpcode>(cursor.take<std::uint8_t>());
    const auto record = cursor.read_bytes(cursor.take<std::uint64_t>());
    if (!cursor.ok()) return "a record reaches beyond its chunk";
    if (opcode == McapOpcode::kSchema || opcode == McapOpcode::kChannel) {
      if (!content.declarations.take(opcode, record)) return "a declaration is malformed";
    } else if (opcode == McapOpcode::kMessage) {
      const auto message = parse_message(record);
      if (!message || !(content.declarations.channels.contains(message->channel_id) ||
                        declarations_.channels.contains(message->channel_id))) {
        return "a message has an undeclared channel";
      }
      if (message->log_time_ns < chunk.start_time_ns || message->log_time_ns > chunk.end_time_ns) {
        return "a message is outside its chunk's time";
      }
      content.messages.push_back(*message);
    } else if (static_cast<std::uint8_t>(opcode) <= kOpcodeMax) {
      return "a chunk contains a record of a type that is not allowed in chunks";
    }
  }
  return std::nullopt;
}

void Scanner::deliver(const std::vector<McapMessage>& messages) {
  for (const McapMessage& message : messages) {
    const McapChannel& channel = declarations_.channels.at(message.channel_id);
    const auto schema = declarations_.schemas.find(channel.schema_id);
    ++scan_.message_count;
    if (!visitor_.on_message(
            channel, schema == declarations_.schemas.end() ? nullptr : &schema->second, message)) {
      stopped_ = true;
      return;
    }
  }
}

// Replaces compressed records by uncompressed ones.
// @return false if they are damaged; an error if their compression or size is not supported
Result<bool> Scanner::expand(McapChunk& chunk) {
  if (chunk.compression.empty()) return true;
  const std::string remedy =
      "; save the file uncompressed first, "
      "for example with 'mcap filter --output-compression none'";
  if (!is_known_compression(chunk.compression)) {
    return Error{ErrorCode::kUnsupported, "chunks compressed with \"" +
                                              std::string(chunk.compression) +
                                              "\" are not supported" + remedy};
  }
  if (chunk.uncompressed_size > kRecordSizeMax) {
    return Error{ErrorCode::kUnsupported, "a compressed chunk expands to more than 64 MiB" +
                                              remedy + " --chunk-size 1000000"};
  }
  if (chunk.uncompressed_size > expansion_budget_) {
    return Error{ErrorCode::kUnsupported,
                 "compressed chunks expand to more than 256 times the file" + remedy};
  }
  expansion_budget_ -= chunk.uncompressed_size;
  const auto size = static_cast<std::size_t>(chunk.uncompressed_size);
  if (!decompress_records(chunk.compression, chunk.records, size, expanded_)) return false;
  chunk.records = expanded_;
  return true;
}

Status Scanner::take_chunk(std::uint64_t record_end) {
  auto chunk = parse_chunk(content_);
  if (!chunk) {
    ++scan_.damaged_chunk_count;
    return resynchronise("a chunk is damaged");
  }
  const auto expanded = expand(*chunk);
  if (!expanded.ok()) return expanded.error();
  ChunkContent content;
  auto problem = expanded.value() ? check_chunk(*chunk, content)
                                  : std::optional<std::string>("a compressed chunk is damaged");
  if (problem) {
    ++scan_.damaged_chunk_count;
    note(offset_, *problem);
    // Its length may be right nevertheless. If not, the search restarts within this chunk.
    offset_ = record_end;
    return success();
  }
  ++scan_.intact_chunk_count;
  // Declarations in a chunk are protected by its checksum and replace unprotected ones.
  declarations_.merge(std::move(content.declarations));
  deliver(content.messages);
  keep(record_end);
  offset_ = trusted_end_ = record_end;
  return success();
}

// Returns whether the summary from summary_start, the footer and the closing magic are intact.
bool Scanner::summary_is_intact(std::uint64_t summary_start) const {
  constexpr std::uint64_t kEndSize =
      kMcapRecordHeaderSize + kMcapFooterContentSize + kMcapMagic.size();
  if (size_ < summary_start + kEndSize || size_ - summary_start > kRecordSizeMax) return false;
  Bytes bytes(static_cast<std::size_t>(size_ - summary_start));
  if (!file_.read(summary_start, bytes).ok()) return false;
  const std::size_t footer_at = bytes.size() - kEndSize;
  ByteCursor cursor{std::span(bytes).subspan(footer_at)};
  const auto opcode = cursor.take<std::uint8_t>();
  const auto size = cursor.take<std::uint64_t>();
  const auto start = cursor.take<std::uint64_t>();
  cursor.take<std::uint64_t>();  // start of the summary offsets
  const auto crc = cursor.take<std::uint32_t>();
  const auto magic = cursor.read_bytes(kMcapMagic.size());
  const auto protected_size = footer_at + kMcapRecordHeaderSize + 16;
  return opcode == static_cast<std::uint8_t>(McapOpcode::kFooter) &&
         size == kMcapFooterContentSize && (start == 0 || start == summary_start) &&
         std::equal(magic.begin(), magic.end(), kMcapMagic.begin()) &&
         (crc == 0 || crc == crc32(std::span(bytes).first(protected_size)));
}

Status Scanner::take_ending() {
  const std::uint64_t summary_start = offset_ + kMcapRecordHeaderSize + content_.size();
  if (content_.size() != 4 || !summary_is_intact(summary_start)) {
    return resynchronise("the recording was cut off at its end, or its summary is damaged");
  }
  const auto crc = ByteCursor(content_).take<std::uint32_t>();
  if (crc != 0 && data_crc_known_ && crc != data_crc_) {
    note(offset_, "checksum of the data section is wrong");
  }
  scan_.finished = ended_ = true;
  keep(size_);
  return success();
}

// Returns whether the remaining bytes start like an attachment of exactly this size. Then the file
// was cut off, and the length is not damaged.
bool Scanner::is_cut_attachment(std::uint64_t size) const {
  constexpr std::uint64_t kLookAhead = 4096;  // the names are shorter than that
  Bytes bytes(
      static_cast<std::size_t>(std::min(remaining_size() - kMcapRecordHeaderSize, kLookAhead)));
  if (!file_.read(offset_ + kMcapRecordHeaderSize, bytes).ok()) return true;
  ByteCursor cursor(bytes);
  cursor.read_bytes(16);
  cursor.read_text();
  cursor.read_text();
  const auto data_size = cursor.take<std::uint64_t>();
  const std::uint64_t before_data = bytes.size() - cursor.remaining_size();
  return !cursor.ok() || size == before_data + data_size + 4;
}

// The record at offset_ is damaged: continues at the next verified chunk.
Status Scanner::resynchronise(const std::string& reason) {
  note(offset_, reason);
  data_crc_known_ = false;
  const std::uint64_t from = std::max(trusted_end_ + 1, searched_to_);
  auto found = find_chunk(from);
  if (!found.ok()) return found.error();
  ended_ = !found.value().has_value();
  offset_ = found.value().value_or(size_);
  searched_to_ = offset_ + 1;
  return success();
}

Result<bool> Scanner::verify_candidate(std::uint64_t offset) {
  std::array<std::uint8_t, kMcapRecordHeaderSize> bytes{};
  if (Status read = file_.read(offset, bytes); !read.ok()) return read.error();
  const std::uint64_t size = ByteCursor{std::span(bytes).subspan(1)}.take<std::uint64_t>();
  if (size > search_budget_) {
    search_budget_ = 0;
    return false;
  }
  search_budget_ -= size;
  if (Status read = read_content(offset + kMcapRecordHeaderSize, size); !read.ok()) {
    return read.error();
  }
  auto chunk = parse_chunk(content_);
  if (!chunk) return false;
  const auto expanded = expand(*chunk);
  return expanded.ok() && expanded.value() && crc32(chunk->records) == chunk->uncompressed_crc;
}

Result<std::optional<std::uint64_t>> Scanner::find_chunk(std::uint64_t from) {
  constexpr std::size_t kHeadSize = kMcapRecordHeaderSize + kChunkFixedSize;
  Bytes window;
  while (search_budget_ > 0) {
    from = file_.skip_hole(from);  // no chunk starts with a zero
    if (from + kHeadSize > size_) break;
    window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kSearchWindow, size_ - from)));
    if (Status read = file_.read(from, window); !read.ok()) return read.error();
    const bool last = from + window.size() == size_;
    const std::size_t look = kHeadSize + (last ? 0 : kCompressionNameMax);
    std::size_t at = 0;
    for (; at + look <= window.size() && search_budget_ > 0; ++at) {
      const auto head = std::span(window).subspan(
          at, std::min(kHeadSize + kCompressionNameMax, window.size() - at));
      if (!may_start_chunk(head, size_ - from - at)) continue;
      const auto verified = verify_candidate(from + at);
      if (!verified.ok()) return verified.error();
      if (verified.value()) return std::optional<std::uint64_t>(from + at);
    }
    from += at;
  }
  return std::optional<std::uint64_t>();
}

}  // namespace

Result<McapScan> scan_mcap(const InputFile& file, McapVisitor& visitor) {
  return Scanner(file, visitor).run();
}

}  // namespace proto
