#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/recording/recording_types.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/support/local_socket.hpp"

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
};

/// The line between one rig and the service: a TCP relay that disconnects at any byte, delays,
/// stops relaying, closes one direction only, lets the service's end hang when the rig's is closed,
/// and repeats batches. On a thread of its own.
class StreamRelay {
 public:
  StreamRelay(std::uint16_t service_port, StreamWitness& witness, Ledger& ledger,
              std::uint64_t seed);
  ~StreamRelay();
  StreamRelay(const StreamRelay&) = delete;
  StreamRelay& operator=(const StreamRelay&) = delete;

  std::uint16_t port() const { return listener_.port(); }

  /// From now on the line has no faults.
  void calm() { calm_.store(true); }

 private:
  struct Line;
  enum class Trouble { kNone, kCut, kReset, kDelay, kSilence, kHalfClose, kHangingEnd, kRepeat };

  void serve();
  void accept();
  Trouble draw();
  bool step(Line& line);
  bool forward(Line& line, bool to_service);
  void repeat_batch(Line& line);
  void end(Line& line, const char* how);

  std::uint16_t service_port_;
  StreamWitness& witness_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  test_support::LocalListener listener_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> calm_{false};
  std::list<std::unique_ptr<Line>> lines_;
  std::thread thread_;
};

}  // namespace campaign
