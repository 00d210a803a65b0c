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

/// Streams the messages of a run to the service through a buffer on disk, the spool. A separate
/// thread owns spool and connection, so a slow or unreachable service delays no other thread and
/// gets missed data later. Samples that do not fit into the spool are listed in the stream as a
/// gap.
class StreamSink final : public RunSink {
 public:
  /// Starts the thread.
  StreamSink(const ServiceEndpoint& service, SpoolFolder folder);
  ~StreamSink() override;

  proto::Status write(const proto::RecordingMessage& message) override;

  /// Passes the current batch of messages to the spool if the batch is old enough.
  proto::Status idle() override;

  /// Passes the last batch of messages to the spool. Nothing can be written afterwards.
  /// @param interrupted  another process recorded the run and did not record its end
  void end(bool interrupted = false);

  /// Waits until the service has received all data or rejects the session, but at most for
  /// `patience`. To be called after end().
  /// @return true if it has everything; else the spool keeps the missing batches
  bool wait(std::chrono::milliseconds patience);

  /// Returns whether the service rejects the session permanently. latest_problem() returns the
  /// reason.
  bool is_session_rejected() const;

  /// Returns the current problem of the stream as a text for users; empty if there is none.
  std::string latest_problem() const;

  /// Returns whether writing to the spool fails, so that the service will not get new samples.
  bool loses_samples() const;

  /// Returns the estimates of the rig's parameters that the service has sent since the last call,
  /// oldest first.
  std::deque<proto::LiveEstimate> take_estimates();

  /// Returns the reason why the service sends no estimates, as a text for users; empty if the
  /// service sends estimates, or if no estimates were requested.
  std::string live_problem() const;

  /// Returns who requested the end of the run through the service, as a text for people; empty if
  /// nobody did.
  std::string stop_requested_by() const;

  /// Returns the number of batches that the service has not acknowledged yet.
  std::uint64_t unsent_batch_count() const;

 private:
  void queue_batch();
  void run(const ServiceEndpoint& service);
  bool spool_batches(std::deque<std::string>& batches, std::string& problem);
  void publish(const StreamConnection& connection, const std::string& spool_problem);

  // Used by the supervisor's thread.
  std::unique_ptr<rigcal::v1::SampleBatch> batch_;
  int batch_message_count_ = 0;
  std::chrono::steady_clock::time_point batch_started_{};

  // Shared by both threads.
  mutable std::mutex mutex_;
  std::condition_variable ended_changed_;
  std::deque<std::string> pending_batches_;  // serialized batches
  bool ending_ = false;
  bool interrupted_ = false;
  bool ended_ = false;  // done or rejected
  bool done_ = false;
  std::uint64_t backlog_ = 0;
  std::string problem_;
  bool loses_samples_ = false;
  std::deque<proto::LiveEstimate> estimates_;
  std::string live_problem_;
  std::string stop_requested_by_;
  std::atomic<bool> stop_{false};

  // Used by the stream's thread.
  proto::Spool spool_;
  proto::StreamSender sender_;
  std::optional<proto::Gap> unspooled_gap_;  // samples that did not fit into the spool

  std::thread thread_;
};

}  // namespace daq
