#pragma once

#include <cstddef>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace daq {

/// Interface of a recording or stream that receives all messages of a run in order of time. The
/// supervisor's thread makes all calls, and no call waits for a disk. A failure may be reported by
/// a later call.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual proto::Status write(const proto::RecordingMessage& message) = 0;

  /// Performs periodic work, such as ending a batch that is old enough. Called about every 10 ms.
  virtual proto::Status idle() { return proto::success(); }

  /// Returns the number of messages that were accepted but are not yet on the disk.
  virtual std::size_t unwritten_message_count() const { return 0; }
};

}  // namespace daq
