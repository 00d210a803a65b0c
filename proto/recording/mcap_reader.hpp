#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/file.hpp"
#include "proto/recording/mcap_format.hpp"
#include "proto/result.hpp"

namespace proto {

/// Receives what a scan finds, in the order of the file. Each function returns true to go on, false
/// to end the scan. References are valid during the call only.
class McapVisitor {
 public:
  virtual ~McapVisitor() = default;

  /// @param schema null if the channel has none
  virtual bool on_message(const McapChannel& channel, const McapSchema* schema,
                          const McapMessage& message) = 0;
  virtual bool on_metadata(const McapMetadata&) { return true; }
  virtual bool on_attachment(const McapAttachment&) { return true; }
};

/// What a scan found, damage included.
struct McapScan {
  McapHeader header;
  bool finished = false;  ///< the file ends as a finished recording does; else it was cut off
  std::uint64_t message_count = 0;
  std::uint64_t intact_chunk_count = 0;
  std::uint64_t damaged_chunk_count = 0;  ///< among those that could be found at all
  std::uint64_t skipped_bytes = 0;        ///< that belong to no intact record
  std::vector<std::string> problems;      ///< the first 16, in words, with offsets

  bool intact() const { return finished && problems.empty(); }
};

/// Reads every intact chunk of an MCAP file, finished, cut off or damaged, and hands over its
/// messages. A chunk is all or nothing: its checksum is right, each record in it parses exactly,
/// each message has a declared channel and a time within the chunk; else the chunk is dropped and
/// counted. Where the sequence of records is broken, the next chunk with a checksum is searched
/// for. Metadata and attachments between records are handed over as they come.
///
/// Chunks compressed with zstd or lz4 are expanded.
///
/// Bounded whatever the bytes say: one record of at most 64 MiB in memory, and what a chunk expands
/// to, as much at most; time linear in the file's size, of which all chunks may expand to 256 times
/// (and 1 GiB). Messages outside chunks carry no checksum and are not read (a problem is noted).
///
/// @return kDamaged if the file does not start as an MCAP file, kUnsupported for chunks
///         compressed otherwise or too large, kInputOutput if the disk fails
Result<McapScan> scan_mcap(const InputFile& file, McapVisitor& visitor);

}  // namespace proto
