#include "tests/campaign/clients.hpp"

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "proto/recording/convert.hpp"
#include "proto/recording/recording_reader.hpp"
#include "tests/campaign/poison.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"

namespace campaign {
namespace {

namespace fs = std::filesystem;
using namespace test_support;
using rigcal::v1::SampleBatch;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using rigcal::v1::SessionRefused;
using Clock = std::chrono::steady_clock;

// Largest size of a recording on disk: the data sent, a record header for each message, its start
// and end, and in each of these and in each chunk the recording's header.
constexpr std::uint64_t kMessageSize = 64;
constexpr std::uint64_t kFixedSize = 128u << 10;
constexpr std::uint64_t kHeaderCopies = 16;

std::uint64_t size_allowed(const SampleBatch& batch) {
  const int messages = batch.samples_size() + batch.commands_size() + batch.gaps_size() +
                       batch.events_size() + batch.clock_fits_size() + batch.loop_stats_size();
  return batch.ByteSizeLong() + kMessageSize * static_cast<std::uint64_t>(messages);
}

// The recording as delivered by the service. Empty, with a failure, if it is not delivered.
std::string read_recording_of(Caller& caller, const std::string& id) {
  std::string bytes;
  ServiceRequest request = about(&ServiceRequest::mutable_read_recording, id);
  while (true) {
    request.mutable_read_recording()->set_offset_bytes(bytes.size());
    const ServiceReply reply = caller.ask(request);
    if (!reply.has_file_part()) {
      caller.fail(id + ": cannot be read: " + brief(reply));
      return {};
    }
    if (reply.file_part().data().empty()) return bytes;
    bytes += reply.file_part().data();
  }
}

std::uint64_t size_of_folder(const std::string& folder) {
  std::uint64_t size = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) size += entry.file_size(ignored);
  }
  return size;
}

class Poisoner {
 public:
  Poisoner(Caller caller, std::uint64_t seed) : caller_(std::move(caller)), random_(seed) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load() && !caller_.service().dead()) {
      poison_one();
      std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 100));
    }
  }

 private:
  struct Session {
    std::string id;
    ServiceRequest open;
    std::string poison;               // description of the corruption, for messages
    bool poison_taken = false;        // acknowledged: valid batches may not fit any more
    std::vector<SampleBatch> stored;  // acknowledged, from number 1
    std::vector<bool> tried;          // whether a corrupted batch of this number was tried
    SampleBatch under_way;
    bool opened = false;
    bool over = false;
  };

  void poison_one() {
    Session session;
    session.id = caller_.name() + "-" + std::to_string(++session_count_);
    session.open = open_request(session.id);
    session.tried.resize(kPoisonBatches + 1, false);
    if (random_() % 3 == 0) {
      session.poison = poison_opening(random_, *session.open.mutable_open_session());
    }
    const auto end_at = Clock::now() + kPatience;
    while (!stream(session)) {
      if (caller_.service().dead()) return;
      if (Clock::now() > end_at) return caller_.fail(session.id + ": is not taken in time");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (!session.opened) return caller_.count("poisoned headers refused");
    expect_readable(session);
    if (!delete_session(caller_, session.id)) return;
    const fs::path folder = caller_.service().session_folder(session.id);
    if (!fs::exists(folder)) return;
    const ServiceReply inspected =
        caller_.ask(about(&ServiceRequest::mutable_inspect_session, session.id));
    // The id is free, and a thief may have taken it.
    const std::string& owner = inspected.session_info().owner();
    if (!owner.empty() && owner != caller_.who().identity()) return;
    if (!fs::exists(folder)) return;
    std::string files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      files += " " + entry.path().filename().string();
    }
    caller_.fail(session.id + ", " + session.poison +
                 ": is deleted, and its folder is there, with" + files +
                 "; inspected: " + brief(inspected));
  }

  // False if it must continue over another connection.
  bool stream(Session& session) {
    const Caller::Calm calm = caller_.calm();
    SocketClient client = caller_.connect();
    const ServiceReply reply =
        client.connected() ? client.call(session.open, kReplyPatience_s) : ServiceReply();
    if (!reply.has_session_opened()) {
      // A number out of range ends the connection before the opening is processed.
      const SessionRefused& refused = reply.session_refused();
      const bool for_good = refused.reason() == SessionRefused::REASON_BAD_REQUEST ||
                            refused.reason() == SessionRefused::REASON_PROTOCOL_VERSION ||
                            reply.error().code() == rigcal::v1::ServiceError::BAD_REQUEST;
      const bool reported = refused.text().size() > 20 || reply.error().text().size() > 20;
      if (!session.opened && !session.poison.empty() && for_good && reported) return true;
      if (calm.lasted()) caller_.fail(session.id + ": is not opened: " + brief(reply));
      return false;
    }
    session.opened = true;
    const std::uint64_t through = reply.session_opened().acknowledged_through();
    if (through == session.stored.size() + 1) session.stored.push_back(session.under_way);
    if (through != session.stored.size()) {
      caller_.fail(session.id + ": goes on at " + std::to_string(through) + " where " +
                   std::to_string(session.stored.size()) + " batches were acknowledged");
    }
    if (!session.over && !send_batches(client, session)) return false;
    end(client, session);
    return true;
  }

  // False if the connection is over; a refused batch also ends it.
  bool send_batches(SocketClient& client, Session& session) {
    while (session.stored.size() < kPoisonBatches) {
      const std::uint64_t number = session.stored.size() + 1;
      ServiceRequest request = batch_request(number);
      const bool poisoned = !session.tried[number] && random_() % 2 == 0;
      session.tried[number] = true;
      if (poisoned) session.poison = poison_batch(random_, *request.mutable_sample_batch());
      session.under_way = request.sample_batch();
      const Caller::Calm calm = caller_.calm();
      const ServiceReply reply = client.call(request, kReplyPatience_s);
      if (reply.has_acknowledge() && reply.acknowledge().through() == number) {
        session.stored.push_back(session.under_way);
        if (poisoned) caller_.count("poisoned batches acknowledged");
        session.poison_taken |= poisoned;
        continue;
      }
      const SessionRefused& refused = reply.session_refused();
      if (refused.reason() == SessionRefused::REASON_BAD_REQUEST && refused.text().size() > 20) {
        if (poisoned) caller_.count("poisoned batches refused");
        if (!poisoned && !session.poison_taken) {
          caller_.fail(session.id + ": a good batch is refused: " + refused.text());
        }
        session.over = !poisoned;  // it contradicts the acknowledged data
        return false;
      }
      // The reply was lost, and the batch may be stored: the next opening shows it.
      session.poison_taken |= poisoned;
      if (calm.lasted()) {
        caller_.fail(session.id + ", " + session.poison +
                     ": no answer to a batch: " + brief(reply));
      }
      return false;
    }
    return true;
  }

  void end(SocketClient& client, Session& session) {
    ServiceRequest close = close_request(session.stored.size());
    const auto refused = [&](const ServiceReply& reply) {
      if (reply.has_session_closed() || reply.has_acknowledge()) {
        caller_.fail(session.id + ": an ending that disagrees is taken: " + brief(reply));
      }
    };
    switch (random_() % 6) {
      case 0:
        client.call(close, kReplyPatience_s);
        break;
      case 1:
        close.mutable_close_session()->set_interrupted(true);
        client.call(close, kReplyPatience_s);
        break;
      case 2:
        refused(client.call(close_request(session.stored.size() + 1 + random_() % 3),
                            kReplyPatience_s));
        break;
      case 3:
        refused(client.call(close_request(std::uint64_t{1} << 52), kReplyPatience_s));
        break;
      case 4: {  // closed, opened and closed once more
        client.call(close, kReplyPatience_s);
        SocketClient again = caller_.connect();
        if (again.connected() && again.call(session.open, kReplyPatience_s).has_session_opened()) {
          again.call(close, kReplyPatience_s);
        }
        break;
      }
      default: {  // continues after its end
        if (!client.call(close, kReplyPatience_s).has_session_closed()) break;
        SocketClient again = caller_.connect();
        if (again.connected() && again.call(session.open, kReplyPatience_s).has_session_opened()) {
          refused(again.call(batch_request(session.stored.size() + 1), kReplyPatience_s));
        }
      }
    }
    client.half_close();
  }

  void expect_readable(const Session& session) {
    const auto info = wait_until_settled(caller_, session.id);
    if (!info) return;
    const auto fail = [&](const std::string& what) {
      caller_.fail(session.id + ", " + session.poison + ": " + what);
    };
    if (info->state() != rigcal::v1::SESSION_STORED || !info->problem().empty()) {
      return fail("was acknowledged, and is not stored as it was: " + info->problem());
    }
    const std::uint64_t size = size_of_folder(caller_.service().session_folder(session.id));
    std::uint64_t allowed = kFixedSize + kHeaderCopies * session.open.ByteSizeLong();
    for (const SampleBatch& batch : session.stored) allowed += size_allowed(batch);
    if (size > allowed) {
      fail("takes " + std::to_string(size) + " bytes, more than " + std::to_string(allowed));
    }
    const std::string bytes = read_recording_of(caller_, session.id);
    const auto file = proto::view_as_input_file(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    const auto recording = proto::read_recording(*file);
    if (!recording.ok()) return fail(recording.error().detail);
    const proto::Recording& stored = recording.value();
    if (!stored.scan.container.intact() || stored.scan.unreadable_count > 0) {
      fail("its recording is damaged");
    }
    std::size_t samples = 0, commands = 0, events = 0, gaps = 0;
    bool all = true;
    for (const SampleBatch& batch : session.stored) {
      for (const auto& message : batch.samples()) {
        const auto sent = proto::from_message(message);
        all =
            all && sent && samples < stored.samples.size() && same(*sent, stored.samples[samples]);
        ++samples;
      }
      for (const auto& command : batch.commands()) {
        all = all && commands < stored.commands.size() &&
              stored.commands[commands].command_sequence == command.command_sequence();
        ++commands;
      }
      for (const auto& event : batch.events()) {
        all = all && events < stored.events.size() && stored.events[events].text == event.text() &&
              stored.events[events].name == event.name();
        ++events;
      }
      gaps += static_cast<std::size_t>(batch.gaps_size());
    }
    all = all && samples == stored.samples.size() && commands == stored.commands.size() &&
          events + (info->interrupted() ? 1 : 0) == stored.events.size() &&
          gaps <= stored.gaps.size();  // the reader adds jumps without a gap message
    if (!all) fail("is stored as something else than was acknowledged");
    caller_.count("poisoned sessions read, compared and deleted");
    caller_.count("samples of poisoned sessions compared", samples);
  }

  Caller caller_;
  std::mt19937_64 random_;
  int session_count_ = 0;
};

}  // namespace

void run_poisoner(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop) {
  Poisoner(std::move(caller), seed).run(stop);
}

}  // namespace campaign
