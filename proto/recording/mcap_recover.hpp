#pragma once

#include <cstdint>
#include <string>

#include "proto/recording/mcap_reader.hpp"
#include "proto/result.hpp"

namespace proto {

struct McapRecovery {
  McapScan source;         ///< what was found, damage included
  std::string written_to;  ///< a finished recording with every message of every intact chunk
};

/// A message to be added behind the last one, on a topic that the file has. Left out where the file
/// has no such topic.
struct McapAddition {
  std::string topic;
  std::uint64_t time_ns = 0;
  std::string data;
};

/// Writes what is intact in a cut-off or damaged MCAP file to a new, finished one, reads that back,
/// and compares every message before giving it its name. The source is not touched. A metadata
/// record "recovered" says what was lost.
///
/// @param destination  must not exist; nothing is left there if recovery fails
/// @param addition     may be null
/// @return kDamaged if the source holds no intact chunk, kVerifyMismatch if what was read back is
///         not what was written, or the error of a scan or a write
Result<McapRecovery> recover_mcap(const std::string& source, const std::string& destination,
                                  const McapAddition* addition = nullptr);

/// Where to recover to when nobody said: "run.mcap" and "run.mcap.part" become
/// "run.recovered.mcap".
std::string default_recovery_path(const std::string& source);

}  // namespace proto
