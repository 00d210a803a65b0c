#pragma once

#include <cstddef>

#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace daq {

/// Receives all messages of a run, in order of time, e.g. a recording or a stream. Called on the
/// supervisor's thread only, and never waits for a disk. A failure may be reported by a later call.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual proto::Status write(const proto::RecordingMessage& message) = 0;

  /// Called about every 10 ms, for work that depends on time rather than on data.
  virtual proto::Status idle() { return proto::success(); }

  /// Returns the number of accepted messages that are not written yet.
  virtual std::size_t unwritten_count() const { return 0; }
};

}  // namespace daq
