#include "tests/campaign/clients.hpp"

#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include "proto/stream/content_hash.hpp"

namespace campaign {
namespace {

using namespace test_support;
using rigcal::v1::JobInfo;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using rigcal::v1::SessionInfo;
using rigcal::v1::SessionRefused;

constexpr int kJobsKept = 20;
// Header of a session that a thief created after its owner had deleted it. Its secret is a guess,
// which another thief may make as well.
constexpr const char* kLoot = "loot";

class Thief {
 public:
  Thief(Caller caller, Caller accomplice, std::uint64_t seed)
      : caller_(std::move(caller)), accomplice_(std::move(accomplice)), random_(seed) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load() && !caller_.service().dead()) {
      const auto session = choose_session();
      if (session) rob(*session);
      const auto job = choose_job();
      if (job) rob(*job);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  // Each owner has the same probability, however much it has.
  template <typename Infos>
  auto choose(const Infos& infos) -> std::optional<std::decay_t<decltype(infos[0])>> {
    std::map<std::string, std::vector<int>> by_owner;
    for (int k = 0; k < infos.size(); ++k) by_owner[infos[k].owner()].push_back(k);
    by_owner.erase(caller_.who().identity());
    if (by_owner.empty()) return std::nullopt;
    const auto& theirs =
        std::next(by_owner.begin(), static_cast<std::ptrdiff_t>(random_() % by_owner.size()))
            ->second;
    return infos[theirs[random_() % theirs.size()]];
  }

  std::optional<SessionInfo> choose_session() {
    ServiceRequest request;
    request.mutable_list_sessions();
    const ServiceReply reply = caller_.ask(request);
    return choose(reply.session_list().sessions());
  }

  std::optional<JobInfo> choose_job() {
    ServiceRequest request;
    request.mutable_list_jobs();
    const ServiceReply reply = caller_.ask(request);
    return choose(reply.job_list().jobs());
  }

  void rob(const SessionInfo& victim) {
    const std::string& id = victim.session_id();
    switch (random_() % 7) {
      case 6:
        return expect_not_allowed("stopping a rig",
                                  about(&ServiceRequest::mutable_stop_session, id));
      case 0:
        return expect_not_allowed("ending a session",
                                  about(&ServiceRequest::mutable_end_session, id));
      case 1:
        return expect_not_allowed("deleting a session",
                                  about(&ServiceRequest::mutable_delete_session, id));
      case 2:
        return add_to_upload(victim);
      case 3:
        return use(victim);
      case 4:
        return break_in(accomplice_, victim);
      default:
        return break_in(caller_, victim);
    }
  }

  void rob(const JobInfo& victim) {
    const std::string& id = victim.job_id();
    if (random_() % 2 == 0) {
      return expect_not_allowed("cancelling a job", about(&ServiceRequest::mutable_cancel_job, id));
    }
    expect_not_allowed("deleting a job", about(&ServiceRequest::mutable_delete_job, id));
  }

  // Sends everything at once, as if the opening had been accepted.
  void break_in(Caller& as, const SessionInfo& listed) {
    const auto inspect = about(&ServiceRequest::mutable_inspect_session, listed.session_id());
    const SessionInfo victim = as.ask(inspect).session_info();
    if (!victim.file_name().empty() && victim.state() != rigcal::v1::SESSION_STORED)
      return;  // a file
    if (!victim.metadata().contains("hinges") || victim.metadata().contains(kLoot)) return;
    const std::string& id = victim.session_id();
    ServiceRequest open;
    open.mutable_open_session()->set_protocol_version(1);
    open.mutable_open_session()->set_session_id(id);
    *open.mutable_open_session()->mutable_metadata() = victim.metadata();
    (*open.mutable_open_session()->mutable_metadata())[kLoot] = as.name();
    open.mutable_open_session()->set_epoch_unix_ns(victim.epoch_unix_ns());
    open.mutable_open_session()->set_secret(guess(id));
    const std::uint64_t held = victim.batch_count();
    ServiceRequest batch = batch_request(held + 1000, 7);
    batch.mutable_sample_batch()->set_batch_sequence(
        held > 0 && random_() % 2 == 0 ? 1 + random_() % held : held + 1);
    SocketClient client = as.connect();
    const Caller::Calm calm = as.calm();
    if (!client.connected() ||
        !client.send_bytes(request_frame(open) + request_frame(batch) +
                           request_frame(close_request(batch.sample_batch().batch_sequence())))) {
      return;
    }
    const auto reply = client.receive(kReplyPatience_s);
    as.count("thefts refused: opening a session without its secret");
    if (!reply) {
      if (calm.lasted()) as.fail("no answer to an opening without a secret");
      return;
    }
    const bool refused =
        reply->session_refused().reason() == SessionRefused::REASON_BAD_REQUEST &&
        reply->session_refused().text().find("the secret is wrong") != std::string::npos;
    if (refused) return;
    // Its owner may have deleted it meanwhile: then this is a new one, and the thief's own.
    const SessionInfo now = as.ask(inspect).session_info();
    const bool own = now.created_unix_ns() != victim.created_unix_ns();
    if (reply->has_session_opened() && !own) as.fail(id + ": was opened without its secret");
    if (reply->has_session_refused() && calm.lasted() &&
        reply->session_refused().text().find("belongs to another recording") == std::string::npos) {
      as.fail(id + ": is refused otherwise than for its secret: " + brief(*reply));
    }
    if (!own || now.owner() != as.who().identity()) return;
    client.half_close();
    if (end_session(as, id) && wait_until_settled(as, id)) delete_session(as, id);
  }

  void add_to_upload(const SessionInfo& victim) {
    if (victim.state() != rigcal::v1::SESSION_UPLOADING) return;
    expect_not_allowed("adding to an upload",
                       part_request(victim.session_id(), victim.size_bytes(), "stolen"));
  }

  // Anyone may run a job on another's recording, but that must not keep its owner from deleting it.
  void use(const SessionInfo& victim) {
    if (victim.state() != rigcal::v1::SESSION_STORED || random_() % 10 != 0) return;
    ServiceRequest submit =
        about(&ServiceRequest::mutable_submit_job, caller_.name() + "-" + std::to_string(++count_));
    auto& spec = *submit.mutable_submit_job()->mutable_spec();
    spec.set_rig_text("name: \"nothing\"");
    spec.set_time_limit_s(1.0);
    spec.add_recordings()->set_session_id(victim.session_id());
    if (!caller_.ask(submit).has_job_info()) return;
    caller_.count("jobs of the thief on others' recordings");
    if (count_ > kJobsKept) {
      delete_job(caller_, caller_.name() + "-" + std::to_string(count_ - kJobsKept));
    }
  }

  void expect_not_allowed(const std::string& what, const ServiceRequest& request) {
    const ServiceReply reply = caller_.ask(request);
    const auto code = reply.error().code();
    if (reply.has_error() && code == ServiceError::NOT_FOUND) return;  // its owner deleted it first
    caller_.count("thefts refused: " + what);
    const bool reported = reply.error().text().find("belongs to") != std::string::npos;
    if (caller_.service().dead() || (code == ServiceError::NOT_ALLOWED && reported)) return;
    caller_.fail(what + " is not refused: " + brief(request) + " -> " + brief(reply));
  }

  // A plausible guess of the secret.
  std::string guess(const std::string& id) {
    const std::string secret = secret_of(id);
    switch (random_() % 6) {
      case 0:
        return "";
      case 1:
        return std::string(proto::kSecretSizeMin + random_() % 17, '\0');
      case 2:  // of another session
        return secret_of(id + "0");
      case 3:  // a prefix
        return secret.substr(0, proto::kSecretSizeMin + random_() % 16);
      case 4: {
        std::string close = secret;
        close[random_() % close.size()] ^= static_cast<char>(1U << (random_() % 8));
        return close;
      }
      default:
        return proto::make_secret();
    }
  }

  Caller caller_;
  Caller accomplice_;
  std::mt19937_64 random_;
  int count_ = 0;  // of ids
};

}  // namespace

void run_thief(Caller caller, Caller accomplice, std::uint64_t seed,
               const std::atomic<bool>& stop) {
  Thief(std::move(caller), std::move(accomplice), seed).run(stop);
}

}  // namespace campaign
