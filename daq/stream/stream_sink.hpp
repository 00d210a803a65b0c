#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daq/loop/run_sink.hpp"
#include "daq/stream/service_endpoint.hpp"
#include "daq/stream/spool_folder.hpp"

namespace rigcal::v1 {
class SampleBatch;
}

namespace daq {

class StreamConnection;

/// Streams a run to the service through a spool on disk. A thread of its own owns spool and
/// connection: a slow or absent service delays nobody, and what it missed it gets later. What does
/// not fit into the spool is listed in the stream as a gap.
class StreamSink final : public RunSink {
 public:
  /// Starts the thread.
  StreamSink(const ServiceEndpoint& service, SpoolFolder folder);
  ~StreamSink() override;

  proto::Status write(const proto::Sample& sample) override;
  proto::Status write(const proto::InertialReading& reading) override;
  proto::Status write(const proto::Command& command) override;
  proto::Status write(const proto::Gap& gap) override;
  proto::Status write(const proto::Event& event) override;
  proto::Status write(const proto::ClockFit& fit) override;
  proto::Status write(const proto::LoopStats& stats) override;

  /// Hands the batch over when it is old enough.
  proto::Status idle() override;

  /// Nothing more will be written: hands over the rest.
  /// @param interrupted  the run was cut off in another process; nobody declared its end
  void end(bool interrupted = false);

  /// After end(): waits until the service has everything, or refuses it for good, at most so long.
  /// @return true when it has everything; else the spool keeps what is missing
  bool wait(std::chrono::milliseconds patience);

  /// The service refuses the session for good; problem() says why.
  bool is_refused() const;

  /// What is wrong with the stream at this time, for people; empty while nothing is.
  std::string problem() const;

  /// The problem is the spool: what comes now is not kept for the service.
  bool loses_samples() const;

  /// Batches that the service does not have yet.
  std::uint64_t backlog() const;

 private:
  template <typename Message>
  proto::Status keep(const Message& message, rigcal::v1::SampleBatch& batch);
  void hand_over();
  void run(const ServiceEndpoint& service);
  bool spool_batches(std::deque<std::string>& batches, std::string& problem);
  void publish(const StreamConnection& connection, const std::string& spool_problem);

  // Of the supervisor's thread.
  std::unique_ptr<rigcal::v1::SampleBatch> batch_;
  int batch_message_count_ = 0;
  std::chrono::steady_clock::time_point batch_started_{};

  // Shared between the threads.
  mutable std::mutex mutex_;
  std::condition_variable ended_changed_;
  std::deque<std::string> handed_over_;  // serialized batches
  bool ending_ = false;
  bool interrupted_ = false;
  bool ended_ = false;  // nothing more will happen: done, or refused
  bool done_ = false;
  std::uint64_t backlog_ = 0;
  std::string problem_;
  bool loses_samples_ = false;
  std::atomic<bool> stop_{false};

  // Of the stream's thread.
  proto::Spool spool_;
  proto::StreamSender sender_;
  std::optional<proto::Gap> unspooled_;  // samples that did not fit into the spool

  std::thread thread_;
};

}  // namespace daq
