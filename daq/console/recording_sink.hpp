#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "daq/loop/run_sink.hpp"
#include "proto/recording/recording_writer.hpp"

namespace daq {

/// Writes the recording of a run. A separate thread writes to the disk and synchronizes the data a
/// few times a second, so a slow or hanging disk delays no other thread.
class RecordingSink final : public RunSink {
 public:
  explicit RecordingSink(proto::RecordingWriter writer);
  /// Waits until all messages are written to the disk.
  ~RecordingSink() override;

  /// Queues a message for the writing thread. The writing thread passes an event to the disk at
  /// once, because a trip must not be lost in a later crash.
  proto::Status write(const proto::RecordingMessage& message) override;

  /// Wakes the writing thread. @return status()
  proto::Status idle() override;

  /// Returns the first error that occurred when data were written or synchronized; success if there
  /// was none.
  proto::Status status() const;

  std::size_t unwritten_message_count() const override { return unwritten_count_.load(); }

  /// Returns a counter that increases at least ten times a second, unless the disk blocks the
  /// writing thread.
  const std::atomic<std::uint64_t>& heartbeat() const { return heartbeat_; }

  /// Completes the recording and gives the file its final name. Nothing can be written afterwards.
  proto::Status finish();

  /// Returns the number of samples that could not be written to the disk. To be called after
  /// finish().
  std::uint64_t lost_sample_count() const { return writer_.lost_sample_count(); }

 private:
  using Task = std::function<proto::Status(proto::RecordingWriter&)>;

  void push(Task task);
  void run();
  void note(const proto::Status& status);
  void stop();

  proto::RecordingWriter writer_;  // used by the thread while it runs
  std::atomic<std::size_t> unwritten_count_{0};
  std::atomic<std::uint64_t> heartbeat_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the real-time thread reads it");

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::optional<proto::Error> error_;

  std::thread thread_;
};

}  // namespace daq
