#include "tests/campaign/clients.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <optional>
#include <random>


namespace campaign {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

constexpr std::size_t kPartSize = 1u << 20;
// More than the shares, which are half of the limits in proto/daemon.proto.
constexpr int kConnections = 300;
constexpr int kStreams = 80;
constexpr int kJobsWaiting = 80;
constexpr int kSessions = 800;  // of 60 kB in memory each
constexpr int kCancelledJobs = 1000;
constexpr std::uint64_t kDisk = std::uint64_t{768} << 20;

// The reason of a refusal: "" if accepted, empty without a reply.
std::optional<std::string> refusal_of(const ServiceReply& reply) {
  if (reply.reply_case() == ServiceReply::REPLY_NOT_SET) return std::nullopt;
  return reply.has_session_refused() ? reply.session_refused().text() : reply.error().text();
}

class Hoarder {
 public:
  Hoarder(Caller caller, std::uint64_t seed) : caller_(std::move(caller)), random_(seed) {}

  void run(const std::atomic<bool>& stop) {
    using Attack = void (Hoarder::*)();
    struct Kind {
      const char* name;
      Attack attack;
    };
    std::array kinds = {
        Kind{"jobs with large inputs, cancelled", &Hoarder::hoard_cancelled_jobs},
        Kind{"endless jobs", &Hoarder::hoard_endless_jobs},
        Kind{"sessions", &Hoarder::hoard_sessions},
        Kind{"bytes on the disk", &Hoarder::hoard_disk},
        Kind{"streams", &Hoarder::hoard_streams},
        Kind{"connections", &Hoarder::hoard_connections},
        Kind{"replies never read", &Hoarder::hoard_replies},
        Kind{"lists, asked for by many", &Hoarder::ask_for_lists},
    };
    while (!stop.load() && !caller_.service().dead()) {
      std::shuffle(kinds.begin(), kinds.end(), random_);
      for (const Kind& kind : kinds) {
        if (stop.load() || caller_.service().dead()) break;
        if (!prepare_recording()) break;
        (this->*kind.attack)();
        caller_.count(std::string("attacks: hoarding ") + kind.name);
      }
      delete_all_jobs();
      recording_.clear();
      delete_all_sessions();
    }
  }

 private:
  void hoard_cancelled_jobs() {
    const Caller::Calm calm = caller_.calm();
    std::optional<std::string> refusal = "";
    for (int k = 0; k < kCancelledJobs && refusal == ""; ++k) {
      ServiceRequest submit =
          submit_request(caller_.name() + "-cancelled-" + std::to_string(++count_), recording_);
      std::string& rig = *submit.mutable_submit_job()->mutable_spec()->mutable_rig_text();
      rig += "# " + std::string(480'000 - rig.size(), 'x') + "\n";
      refusal = refusal_of(caller_.ask_once(submit));
      if (refusal != "") break;
      caller_.ask_once(about(&ServiceRequest::mutable_cancel_job, submit.submit_job().job_id()));
    }
    expect_share("jobs kept", refusal, calm);
    if (random_() % 2 == 0) delete_all_jobs();
  }

  // Steps far shorter than the samples', a step as long as half the recording, and an endless job.
  void hoard_endless_jobs() {
    const Caller::Calm calm = caller_.calm();
    std::optional<std::string> refusal = "";
    for (int k = 0; k < kJobsWaiting && refusal == ""; ++k) {
      ServiceRequest submit =
          submit_request(caller_.name() + "-endless-" + std::to_string(++count_), recording_);
      auto& spec = *submit.mutable_submit_job()->mutable_spec();
      constexpr std::array kSteps_s = {1e-6, 1e-5, 1e-4, 1.0};
      auto& options = *spec.mutable_estimation_options()->mutable_fields();
      options["stepS"].set_number_value(kSteps_s[random_() % kSteps_s.size()]);
      options["maxIterations"].set_number_value(100'000);
      if (random_() % 4 != 0) spec.set_time_limit_s(2.0);
      refusal = refusal_of(caller_.ask_once(submit));
    }
    expect_share("jobs waiting", refusal, calm);
    pause(static_cast<int>(random_() % 4000));
  }

  // Opened, and left at once.
  void hoard_sessions() {
    const Caller::Calm calm = caller_.calm();
    std::optional<std::string> refusal = "";
    for (int k = 0; k < kSessions && refusal == ""; ++k) {
      ServiceRequest open = open_request(caller_.name() + "-" + std::to_string(++count_));
      (*open.mutable_open_session()->mutable_metadata())["notes"] = std::string(60'000, '"');
      SocketClient client = caller_.connect();
      refusal = client.connected() ? refusal_of(client.call(open, kReplyPatience_s)) : std::nullopt;
    }
    expect_share("sessions", refusal, calm);
    // All of them are to be stored at the same time.
    if (random_() % 2 == 0) delete_all_sessions();
  }

  void hoard_disk() {
    const Caller::Calm calm = caller_.calm();
    std::optional<std::string> refusal = "";
    for (std::uint64_t taken = 0; refusal == "" && taken < kDisk;) {
      const std::uint64_t size = 1 + random_() % (64u << 20);
      refusal = upload(size, random_() % 3 == 0 ? 0 : size);
      taken += size;
    }
    expect_share("bytes on the disk", refusal, calm);
    if (random_() % 2 == 0) delete_all_sessions();
  }

  void hoard_streams() {
    const Caller::Calm calm = caller_.calm();
    std::list<SocketClient> streams;
    std::optional<std::string> refusal = "";
    for (int k = 0; k < kStreams && refusal == ""; ++k) {
      SocketClient& client = streams.emplace_back(caller_.connect());
      const ServiceRequest open =
          open_request(caller_.name() + "-stream-" + std::to_string(++count_));
      refusal = client.connected() ? refusal_of(client.call(open, kReplyPatience_s)) : std::nullopt;
      if (refusal == "") client.call(batch_request(1, 1000), kReplyPatience_s);
    }
    expect_share("streams", refusal, calm);
    // Batches of the largest size, without reading their acknowledgements.
    for (std::uint64_t number = 2; number <= 4; ++number) {
      const std::string batch = request_frame(batch_request(number, 1000));
      for (SocketClient& client : streams) {
        client.give_up_sending_after(0.2);
        if (client.connected()) client.send_bytes(batch);
      }
    }
    pause(500);
  }

  // Greeted and then idle: newer ones replace the oldest.
  void hoard_connections() {
    const Caller::Calm calm = caller_.calm();
    std::list<SocketClient> clients;
    for (int k = 0; k < kConnections; ++k) {
      SocketClient& client = clients.emplace_back(caller_.connect());
      if (!client.connected() || refusal_of(client.call(hello_request(), kReplyPatience_s)) != "")
        break;
    }
    if (clients.size() == kConnections && clients.front().closed_by_service(kReplyPatience_s)) {
      caller_.count("the hoarder's idle connections were replaced");
    } else if (calm.lasted()) {
      caller_.fail("keeps more idle connections than its share, or is refused");
    }
    pause(static_cast<int>(random_() % 2000));
  }

  // Each connection requests megabytes and reads nothing.
  void hoard_replies() {
    ServiceRequest list;
    list.mutable_list_sessions();
    const ServiceRequest file = about(&ServiceRequest::mutable_read_recording, recording_);
    std::string frames = request_frame(hello_request());
    for (int k = 0; k < 200; ++k) frames += request_frame(k % 2 == 0 ? list : file);
    std::list<SocketClient> clients;
    for (int k = 0; k < 200; ++k) {
      SocketClient& client = clients.emplace_back(caller_.connect());
      if (!client.connected()) break;
      client.give_up_sending_after(0.1);
      client.send_bytes(frames);
    }
    pause(1000 + static_cast<int>(random_() % 2000));
  }

  // Requests that cost the service most per byte, from many connections at a time.
  void ask_for_lists() {
    ServiceRequest sessions, jobs;
    sessions.mutable_list_sessions();
    jobs.mutable_list_jobs();
    std::string frames;
    for (int k = 0; k < 20; ++k) frames += request_frame(k % 2 == 0 ? sessions : jobs);
    std::list<SocketClient> clients;
    for (int k = 0; k < 30; ++k) {
      SocketClient& client = clients.emplace_back(caller_.connect());
      if (!client.connected() || !client.send_bytes(request_frame(hello_request()) + frames))
        return;
    }
    std::size_t received = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    while (std::chrono::steady_clock::now() < end) {
      for (SocketClient& client : clients) received += client.discard(0.001);
    }
    caller_.count("megabytes of lists that the hoarder was sent", received >> 20);
  }

  // A refusal while the service is not disturbed must name a share that exists.
  void expect_share(const std::string& what, const std::optional<std::string>& refusal,
                    const Caller::Calm& calm) {
    if (!refusal) return;  // connection closed, to make room or by a disturbance
    const bool reported = refusal->find(" one") != std::string::npos &&
                          refusal->find(caller_.who().identity()) != std::string::npos;
    if (reported) return caller_.count("the hoarder got the limit on its share of " + what);
    if (!calm.lasted()) return;
    caller_.fail(refusal->empty()
                     ? "may have any number of " + what
                     : "does not get the limit on its share of " + what + ", but: " + *refusal);
  }

  // Starts an upload of this size and sends part of it. @return the reason of a refusal
  std::optional<std::string> upload(std::uint64_t size_bytes, std::uint64_t sent_bytes) {
    const std::string id = caller_.name() + "-file-" + std::to_string(++count_);
    ServiceReply reply = caller_.ask_once(upload_request(id, size_bytes, "data.csv"));
    while (reply.has_upload_state() && reply.upload_state().durable_bytes() < sent_bytes) {
      const std::uint64_t at = reply.upload_state().durable_bytes();
      reply = caller_.ask_once(part_request(
          id, at, std::string(std::min<std::uint64_t>(kPartSize, sent_bytes - at), '7')));
    }
    return refusal_of(reply);
  }

  // Uploads a pendulum's swing, so that jobs have something to compute.
  bool prepare_recording() {
    if (!recording_.empty()) return true;
    const std::string id = caller_.name() + "-swing-" + std::to_string(++count_);
    if (!upload_pendulum(caller_, id)) return false;
    recording_ = id;
    return true;
  }

  void delete_all_jobs() {
    ServiceRequest list;
    list.mutable_list_jobs();
    while (!caller_.service().dead()) {
      const ServiceReply reply = caller_.ask(list);
      bool any = false;
      for (const auto& job : reply.job_list().jobs()) {
        if (job.owner() != caller_.who().identity()) continue;
        delete_job(caller_, job.job_id());
        any = true;
      }
      if (!any) return;
    }
  }

  void delete_all_sessions() {
    ServiceRequest list;
    list.mutable_list_sessions();
    while (!caller_.service().dead()) {
      const ServiceReply reply = caller_.ask(list);
      std::vector<std::string> ids;
      for (const auto& session : reply.session_list().sessions()) {
        if (session.owner() != caller_.who().identity()) continue;
        if (session.session_id() == recording_) continue;
        ids.push_back(session.session_id());
        if (session.state() == rigcal::v1::SESSION_OPEN) end_session(caller_, ids.back());
      }
      if (ids.empty()) return;
      for (const std::string& id : ids) delete_session(caller_, id);
    }
  }

  Caller caller_;
  std::mt19937_64 random_;
  std::string recording_;  // session that jobs name
  int count_ = 0;          // of ids
};

}  // namespace

void run_hoarder(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop) {
  Hoarder(std::move(caller), seed).run(stop);
}

}  // namespace campaign
