#include "daq/stream/spool_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/stream.pb.h"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

namespace fs = std::filesystem;
using rigcal::v1::OpenSession;
using rigcal::v1::SampleBatch;

std::string session_path(const std::string& folder) {
  return (fs::path(folder) / "session.pb").string();
}

std::string ended_path(const std::string& folder) { return (fs::path(folder) / "ended").string(); }

std::string session_bytes(const proto::StreamSession& session) {
  OpenSession message;
  message.set_protocol_version(proto::kStreamVersion);
  message.set_session_id(session.id);
  message.set_epoch_unix_ns(session.epoch_unix_ns);
  message.mutable_metadata()->insert(session.metadata.begin(), session.metadata.end());
  message.set_secret(session.secret);
  return message.SerializeAsString();
}

proto::Status save(const std::string& path, const std::string& bytes) {
  try {
    proto::write_file(path, bytes);
  } catch (const proto::InputError& error) {
    return proto::Error{proto::ErrorCode::kInputOutput, error.what()};
  }
  return proto::success();
}

// Makes a folder private, because the secret in it opens the session.
void make_private(const std::string& folder) {
  std::error_code ignored;  // for file systems without permissions
  fs::permissions(folder, fs::perms::owner_all, ignored);
}

proto::Result<proto::StreamSession> read_session(const std::string& folder) {
  const std::string path = session_path(folder);
  if (!fs::exists(path)) {
    return proto::Error{proto::ErrorCode::kNotFound,
                        folder +
                            ": is not a spool folder; "
                            "give the folder RECORDING.spool that rigcal-daq run printed at its "
                            "end"};
  }
  OpenSession message;
  if (!message.ParseFromString(proto::read_file(path)) ||
      !proto::is_valid_session_id(message.session_id())) {
    return proto::Error{proto::ErrorCode::kDamaged,
                        path + ": is damaged; the recording next to it has the same samples"};
  }
  return proto::StreamSession{message.session_id(),
                              {message.metadata().begin(), message.metadata().end()},
                              message.epoch_unix_ns(),
                              message.secret()};
}

constexpr std::uint64_t kTailBatches = 64;

template <typename Message>
std::string key_of(const Message& message) {
  return Message::descriptor()->name() + ':' + message.SerializeAsString();
}

// The newest messages in the spool.
struct Tail {
  std::unordered_set<std::string> keys;
  double begin_s = std::numeric_limits<double>::infinity();
  std::optional<std::uint64_t> last_sample;

  template <typename Messages>
  void add(const Messages& messages) {
    for (const auto& message : messages) {
      keys.insert(key_of(message));
      begin_s = std::min(begin_s, message.timestamp());
    }
  }
};

proto::Result<Tail> read_tail(proto::Spool& spool) {
  Tail tail;
  const std::uint64_t first_kept = spool.acknowledged_through() + 1;
  const std::uint64_t first =
      spool.end() > first_kept + kTailBatches ? spool.end() - kTailBatches : first_kept;
  for (std::uint64_t sequence = first; sequence < spool.end(); ++sequence) {
    const auto payload = spool.read(sequence);
    if (!payload.ok()) return payload.error();
    SampleBatch batch;
    if (!batch.ParseFromString(payload.value())) continue;
    tail.add(batch.samples());
    tail.add(batch.inertial());
    tail.add(batch.commands());
    tail.add(batch.gaps());
    tail.add(batch.events());
    tail.add(batch.clock_fits());
    tail.add(batch.loop_stats());
    if (batch.samples_size() > 0) {
      tail.last_sample = batch.samples(batch.samples_size() - 1).sequence();
    }
  }
  return tail;
}

// Collects the messages that the spool lacks. Recording and spool have the same messages in the
// same order, so these follow the last message in both.
class MissingMessageFinder final : public proto::RecordingVisitor {
 public:
  MissingMessageFinder(const Tail& tail, bool spool_is_empty)
      : tail_(tail), matched_(spool_is_empty) {}

  void on_header(const proto::RecordingHeader& header) override {
    epoch_unix_ns_ = header.epoch_unix_ns;
  }
  void on_sample(const proto::Sample& sample) override {
    last_sample_ = sample.sequence;
    see(sample, &SampleBatch::add_samples);
  }
  void on_inertial(const proto::InertialReading& reading) override {
    see(reading, &SampleBatch::add_inertial);
  }
  void on_command(const proto::Command& command) override {
    see(command, &SampleBatch::add_commands);
  }
  void on_gap(const proto::Gap& gap) override {
    // These gaps concern only the recording and were never sent to the stream.
    if (gap.cause == proto::GapCause::kStorage || gap.cause == proto::GapCause::kNotListed) return;
    see(gap, &SampleBatch::add_gaps);
  }
  void on_event(const proto::Event& event) override {
    if (event.name != proto::kInterruptedEvent) see(event, &SampleBatch::add_events);
  }
  void on_clock_fit(const proto::ClockFit& fit) override { see(fit, &SampleBatch::add_clock_fits); }
  void on_loop_stats(const proto::LoopStats& stats) override {
    see(stats, &SampleBatch::add_loop_stats);
  }

  std::int64_t epoch_unix_ns() const { return epoch_unix_ns_; }
  const std::optional<std::uint64_t>& last_sample() const { return last_sample_; }
  std::uint64_t sample_count() const {
    std::uint64_t count = 0;
    for (const SampleBatch& batch : rest_)
      count += static_cast<std::uint64_t>(batch.samples_size());
    return count;
  }
  const std::vector<SampleBatch>& rest() const { return rest_; }

 private:
  template <typename Thing, typename Message>
  void see(const Thing& thing, Message* (SampleBatch::*add)()) {
    if (thing.timestamp_s < tail_.begin_s && !tail_.keys.empty()) return;
    Message message;
    proto::to_message(thing, message);
    if (tail_.keys.contains(key_of(message))) {
      matched_ = true;
      rest_.clear();
      return;
    }
    if (!matched_) return;
    if (rest_.empty() || ++count_ >= kBatchMessagesMax) {
      rest_.emplace_back();
      count_ = 0;
    }
    *(rest_.back().*add)() = std::move(message);
  }

  const Tail& tail_;
  bool matched_;
  std::int64_t epoch_unix_ns_ = 0;
  std::optional<std::uint64_t> last_sample_;
  std::vector<SampleBatch> rest_;
  int count_ = 0;  // messages in the last batch
};

// Returns the recording of a spool: finished, cut off, or recovered. Empty if there is none.
std::string find_recording(const std::string& spool_folder) {
  fs::path path(spool_folder);
  if (!path.has_filename()) path = path.parent_path();  // "run.mcap.spool/"
  if (path.extension() != ".spool") return {};
  const std::string recording = path.replace_extension().string();
  for (const std::string& name :
       {recording, proto::part_file_path(recording), proto::default_recovery_path(recording)}) {
    if (fs::exists(name)) return name;
  }
  return {};
}

proto::Status append_batches(const std::vector<SampleBatch>& batches, proto::Spool& spool) {
  for (const SampleBatch& batch : batches) {
    if (const auto appended = spool.append(batch.SerializeAsString()); !appended.ok()) {
      return appended.error();
    }
  }
  return spool.sync();
}

}  // namespace

proto::Result<SpoolFolder> create_spool_folder(const std::string& folder,
                                               const proto::StreamSession& session) {
  if (fs::exists(folder)) {
    return proto::Error{proto::ErrorCode::kExists,
                        folder +
                            ": contains unsent samples of an earlier run; "
                            "send them with rigcal-daq send, or choose another name"};
  }
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  make_private(folder);
  SpoolFolder made{std::move(spool.value()), session};
  if (made.session.secret.empty()) made.session.secret = proto::make_secret();
  if (proto::Status saved = save(session_path(folder), session_bytes(made.session)); !saved.ok()) {
    remove_spool_folder(folder);
    return saved.error();
  }
  return made;
}

proto::Status mark_run_ended(const std::string& folder) { return save(ended_path(folder), ""); }

proto::Result<SpoolFolder> open_spool_folder(const std::string& folder) {
  auto session = read_session(folder);
  if (!session.ok()) return session.error();
  auto spool = proto::Spool::open(folder);
  if (!spool.ok()) return spool.error();
  SpoolFolder opened{std::move(spool.value()), std::move(session.value()),
                     fs::exists(ended_path(folder))};
  if (!opened.session.secret.empty()) return opened;
  opened.ended = true;
  opened.session.secret = proto::make_secret();
  make_private(folder);
  // Saved before it is sent to the service, because a later process needs it.
  if (proto::Status saved = save(ended_path(folder), ""); !saved.ok()) return saved.error();
  if (proto::Status saved = save(session_path(folder), session_bytes(opened.session));
      !saved.ok()) {
    return saved.error();
  }
  return opened;
}

void remove_spool_folder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

proto::Result<SpoolCompletion> append_missing_messages(const std::string& spool_folder,
                                                       SpoolFolder& folder) {
  SpoolCompletion rest{.ended = folder.ended, .notes = {}};
  const std::string path = find_recording(spool_folder);
  const auto tail = read_tail(folder.spool);
  if (!tail.ok()) return tail.error();
  const auto file = proto::open_input_file(path);
  MissingMessageFinder finder(tail.value(), folder.spool.end() == 1);
  std::optional<proto::RecordingScan> scan;
  if (file.ok()) {
    auto scanned = proto::scan_recording(*file.value(), finder);
    if (scanned.ok()) scan = std::move(scanned.value());
  }
  if (!scan || finder.epoch_unix_ns() != folder.session.epoch_unix_ns) {
    if (!folder.ended) {
      rest.notes.push_back("the run was interrupted, and its recording is not in the folder of " +
                           spool_folder +
                           ": the recording may contain samples that the service does not receive");
    }
    return rest;
  }
  rest.ended = folder.ended || (scan->container.finished && path.ends_with(".mcap") &&
                                !path.ends_with(".recovered.mcap"));
  if (finder.sample_count() > 0 || !finder.rest().empty()) {
    if (proto::Status kept = append_batches(finder.rest(), folder.spool); !kept.ok()) {
      return kept.error();
    }
    rest.notes.push_back(path + " holds " + std::to_string(finder.sample_count()) +
                         " samples that were missing in the spool; they are sent too");
  }
  const auto& spooled = tail.value().last_sample;
  const auto& recorded = finder.last_sample();
  if (spooled && (!recorded || *recorded < *spooled)) {
    const std::uint64_t ahead = *spooled - recorded.value_or(0);
    rest.notes.push_back("the service will have " + std::to_string(ahead) +
                         " samples at the end that " + path +
                         " lacks; 'rigcal sessions SESSION --fetch FILE' downloads them");
  }
  return rest;
}

}  // namespace daq
