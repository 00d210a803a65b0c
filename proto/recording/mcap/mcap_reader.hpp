#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_format.hpp"
#include "proto/result.hpp"

namespace proto {

/// Interface that receives the content of an MCAP file during a scan, in the order of the file.
/// Each function returns true to continue the scan, false to end it. References are valid during
/// the call only.
class McapVisitor {
 public:
  virtual ~McapVisitor() = default;

  /// @param schema null if the channel has none
  virtual bool on_message(const McapChannel& channel, const McapSchema* schema,
                          const McapMessage& message) = 0;
  virtual bool on_metadata(const McapMetadata&) { return true; }
  virtual bool on_attachment(const McapAttachment&) { return true; }
};

/// Results of the scan of an MCAP file, including damage.
struct McapScan {
  McapHeader header;
  bool finished = false;  ///< the file has the end of a finished recording, so it was not cut off
  std::uint64_t message_count = 0;
  std::uint64_t intact_chunk_count = 0;
  std::uint64_t damaged_chunk_count = 0;  ///< number among the chunks that were found
  std::uint64_t skipped_bytes = 0;        ///< bytes outside intact records
  std::vector<std::string> problems;      ///< the first 16 problems, in words, with offsets

  bool intact() const { return finished && problems.empty(); }
};

/// Reads every intact chunk of an MCAP file (finished, cut off or damaged) and passes the chunk's
/// messages to a visitor. A chunk is either used completely or dropped and counted. Its checksum
/// must be correct, each record in it must parse exactly, and each message must have a declared
/// channel and a time within the chunk. After a damaged record, the scan continues at the next
/// chunk with a valid checksum. Metadata and attachments between records are passed on.
///
/// Chunks compressed with zstd or lz4 are expanded.
///
/// Time and memory are bounded for any content. Memory: one record of at most 64 MiB and one
/// expanded chunk of at most the same. Time: linear in the file's size; all chunks together may
/// expand to 1 GiB plus 256 times that size. Messages outside chunks have no checksum and are not
/// read (a problem is noted).
///
/// @return kDamaged if the file does not start as an MCAP file, kUnsupported for chunks with
///     another compression or too large ones, kInputOutput if the disk fails
Result<McapScan> scan_mcap(const InputFile& file, McapVisitor& visitor);

}  // namespace proto
