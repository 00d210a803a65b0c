#include "daq/console/recording_sink.hpp"

#include <chrono>
#include <utility>

namespace daq {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSyncPeriod(250);
constexpr std::chrono::milliseconds kBeatPeriod(50);

}  // namespace

RecordingSink::RecordingSink(proto::RecordingWriter writer) : writer_(std::move(writer)) {
  thread_ = std::thread([this] { run(); });
}

RecordingSink::~RecordingSink() { stop(); }

proto::Status RecordingSink::write(const proto::RecordingMessage& message) {
  push([message](proto::RecordingWriter& writer) {
    const proto::Status status = writer.write(message);
    return status.ok() && std::holds_alternative<proto::Event>(message) ? writer.flush() : status;
  });
  return proto::success();
}

void RecordingSink::push(Task task) {
  unwritten_count_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
}

proto::Status RecordingSink::idle() {
  wake_.notify_all();
  return status();
}

proto::Status RecordingSink::status() const {
  const std::lock_guard lock(mutex_);
  return error_ ? proto::Status(*error_) : proto::success();
}

void RecordingSink::run() {
  std::deque<Task> tasks;
  Clock::time_point synced_at = Clock::now();
  for (bool stopping = false; !stopping;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kBeatPeriod, [this] { return stopping_ || !tasks_.empty(); });
      tasks.swap(tasks_);
      stopping = stopping_;
    }
    for (const Task& task : tasks) {
      note(task(writer_));
      unwritten_count_.fetch_sub(1);
    }
    tasks.clear();
    if (!stopping && Clock::now() - synced_at >= kSyncPeriod) {
      note(writer_.sync());
      synced_at = Clock::now();
    }
    note(proto::success());
  }
}

void RecordingSink::note(const proto::Status& status) {
  heartbeat_.fetch_add(1, std::memory_order_relaxed);
  if (status.ok()) return;
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = status.error();
}

void RecordingSink::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

proto::Status RecordingSink::finish() {
  proto::Status finished = proto::success();
  push([&finished](proto::RecordingWriter& writer) { return finished = writer.finish(); });
  stop();
  return finished;
}

}  // namespace daq
