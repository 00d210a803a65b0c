#pragma once

#include <cstdint>
#include <string>

#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/result.hpp"

namespace proto {

struct McapRecovery {
  McapScan source;         ///< result of the scan, including damage
  std::string written_to;  ///< a finished recording with every message of every intact chunk
};

/// Message to append during recovery, on an existing topic of the file. It is omitted if the file
/// has no such topic.
struct McapAddedMessage {
  std::string topic;
  std::uint64_t time_ns = 0;
  std::string data;
};

/// Writes the intact content of a cut-off or damaged MCAP file to a new, finished file. Before the
/// new file gets its name, every message in it is read back and compared. The source does not
/// change. A metadata record "recovered" lists the losses.
///
/// @param destination  must not exist; nothing is left there if recovery fails
/// @param addition     may be null
/// @return kDamaged if the source has no intact chunk, kVerifyMismatch if the data read back
///     differ, or the error of the scan or of writing
Result<McapRecovery> recover_mcap(const std::string& source, const std::string& destination,
                                  const McapAddedMessage* addition = nullptr);

/// Returns the default path of a recovered file: "run.recovered.mcap" for "run.mcap" and for
/// "run.mcap.part".
std::string default_recovery_path(const std::string& source);

}  // namespace proto
