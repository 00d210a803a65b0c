#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/sample.pb.h"
#include "proto/stream.pb.h"

namespace service {

/// Holds the batches of one session to what a recording may contain, so that everything that was
/// acknowledged can be stored: readable messages, one entry per hinge, samples in sequence.
class BatchCheck {
 public:
  explicit BatchCheck(std::size_t hinge_count) : hinge_count_(hinge_count) {}

  /// Nothing if the batch is good, and then its samples count as seen; else why it is not.
  std::optional<std::string> take(const rigcal::v1::SampleBatch& batch);

 private:
  std::size_t hinge_count_;
  std::optional<std::uint64_t> last_sequence_;
};

/// Names of the hinges in the metadata of a session, by channel. Empty if they are missing or
/// cannot be a recording's: 1 to kChannelCountMax different names.
std::vector<std::string> session_hinges(const std::string& names);

}  // namespace service
