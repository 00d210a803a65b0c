#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

#include "proto/recording/recording_reader.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/campaign/stream_witness.hpp"

namespace campaign {

/// A rig: rigcal-sim as its unit and rigcal-daq, one run after the other, streaming through a bad
/// line. Some runs are killed, and so is rigcal-daq send, which delivers the rest of the spool.
/// After each run the service's recording is compared, sample for sample, with the rig's own
/// recording, with the unit's truth, and with the batches acknowledged on the line.
class RealRig {
 public:
  RealRig(std::string name, std::string programs, std::string folder, ServiceUnderTest& service,
          Ledger& ledger, std::uint64_t seed);

  /// Runs until `stop` is set; the last run is completed.
  void run(const std::atomic<bool>& stop);

 private:
  struct Files;

  void run_once(const std::atomic<bool>& stop);
  bool record(const Files& files, const std::string& unit_url, std::uint16_t relay_port);
  bool deliver(const Files& files, std::uint16_t relay_port, const StreamWitness& witness,
               class StreamRelay& relay, const std::atomic<bool>& stop);
  void compare(const Files& files, const StreamWitness& witness, bool killed);
  void compare_with_truth(const Files& files, const proto::Recording& stored);

  std::string name_;
  std::string programs_;
  std::string folder_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int run_count_ = 0;
};

/// Waits until a closed session is stored, and reads the recording. Empty, with a failure in the
/// ledger, if that does not happen.
std::optional<proto::Recording> wait_for_recording(const ServiceUnderTest& service,
                                                   const std::string& session_id, Ledger& ledger);

}  // namespace campaign
