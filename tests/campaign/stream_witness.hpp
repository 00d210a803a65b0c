#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/recording/recording_types.hpp"
#include "tests/campaign/ledger.hpp"

namespace campaign {

/// Observes a rig's stream between the rig and the service: which batches passed, and up to which
/// one the service has acknowledged, whether or not the rig received that.
class StreamWitness {
 public:
  explicit StreamWitness(Ledger& ledger) : ledger_(ledger) {}

  // Frames of either direction. A repeated batch must be the same. `timed`: the line does not alter
  // them, so the time to an acknowledgement is the service's.
  void on_request(const proto::Frame& frame, bool timed);
  void on_reply(const proto::Frame& frame, bool timed);

  /// A new line: nothing is in transit any more.
  void on_line();

  std::string session_id() const;
  bool closed() const;  ///< the service has confirmed the closing
  std::uint64_t acknowledged() const;

  /// Samples of all acknowledged batches, in order.
  std::vector<proto::Sample> acknowledged_samples() const;

 private:
  void saw_batch(std::uint64_t sequence, const std::string& content);
  void saw_acknowledgement(std::uint64_t through);
  void saw_timed(std::uint64_t through);

  Ledger& ledger_;
  mutable std::mutex mutex_;
  std::string session_id_;
  std::map<std::uint64_t, std::string> batches_;  // serialized SampleBatch by number
  std::map<std::uint64_t, std::chrono::steady_clock::time_point> sent_at_;  // on this line
  std::uint64_t acknowledged_ = 0;
  bool closed_ = false;
};

}  // namespace campaign
