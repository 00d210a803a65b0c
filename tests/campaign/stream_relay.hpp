#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "tests/campaign/ledger.hpp"
#include "tests/campaign/stream_witness.hpp"
#include "tests/support/local_socket.hpp"

namespace campaign {

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
