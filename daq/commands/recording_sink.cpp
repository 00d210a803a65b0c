#include "daq/commands/recording_sink.hpp"

#include <chrono>
#include <utility>

namespace daq {
namespace {

constexpr std::chrono::milliseconds kSyncPeriod(250);

}  // namespace

RecordingSink::RecordingSink(proto::RecordingWriter writer) : writer_(std::move(writer)) {
  syncer_ = std::thread([this] { sync_until_stopped(); });
}

RecordingSink::~RecordingSink() { stop_syncing(); }

void RecordingSink::sync_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kSyncPeriod, [this] { return stopping_; })) {
    lock.unlock();
    const proto::Status status = writer_.sync();
    lock.lock();
    if (!status.ok() && !sync_error_) sync_error_ = status.error();
  }
}

void RecordingSink::stop_syncing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (syncer_.joinable()) syncer_.join();
}

proto::Status RecordingSink::write(const proto::Event& message) {
  const proto::Status status = writer_.write(message);
  return status.ok() ? writer_.flush() : status;
}

proto::Status RecordingSink::idle() {
  const std::lock_guard lock(mutex_);
  return sync_error_ ? proto::Status(*sync_error_) : proto::success();
}

proto::Status RecordingSink::attach(const std::string& name, const std::string& media_type,
                                    const std::string& text) {
  return writer_.attach({name, media_type, {text.begin(), text.end()}});
}

proto::Status RecordingSink::finish() {
  stop_syncing();
  return writer_.finish();
}

}  // namespace daq
