#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "daq/loop/run_sink.hpp"
#include "proto/recording/recording_writer.hpp"

namespace daq {

/// The recording of a run. A thread of its own makes what was written durable a few times a second,
/// so that a slow disk never delays the supervisor.
class RecordingSink final : public RunSink {
 public:
  explicit RecordingSink(proto::RecordingWriter writer);
  ~RecordingSink() override;

  proto::Status write(const proto::Sample& message) override { return writer_.write(message); }
  proto::Status write(const proto::InertialReading& message) override {
    return writer_.write(message);
  }
  proto::Status write(const proto::Command& message) override { return writer_.write(message); }
  proto::Status write(const proto::Gap& message) override { return writer_.write(message); }
  proto::Status write(const proto::ClockFit& message) override { return writer_.write(message); }
  proto::Status write(const proto::LoopStats& message) override { return writer_.write(message); }

  /// Events are rare, and a trip must outlive whatever comes next: handed to the system at once.
  proto::Status write(const proto::Event& message) override;

  /// The first failure of making something durable.
  proto::Status idle() override;

  /// Attaches a named text, such as the rig file.
  proto::Status attach(const std::string& name, const std::string& media_type,
                       const std::string& text);

  /// Completes the recording and gives it its name. Nothing can be written afterwards.
  proto::Status finish();

  const proto::RecordingWriter& writer() const { return writer_; }

 private:
  void sync_until_stopped();
  void stop_syncing();

  proto::RecordingWriter writer_;
  std::mutex mutex_;  // of the members below
  std::condition_variable wake_;
  bool stopping_ = false;
  std::optional<proto::Error> sync_error_;
  std::thread syncer_;
};

}  // namespace daq
