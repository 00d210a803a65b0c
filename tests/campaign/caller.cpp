#include "tests/campaign/caller.hpp"

#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tests/integration/child_process.hpp"
#include "tests/proto/recording_support.hpp"

namespace campaign {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using Clock = std::chrono::steady_clock;

constexpr uid_t kKeep = static_cast<uid_t>(-1);

// This thread alone runs as another account for a while; the C library would change all threads.
// The kernel reports the connecting account to the service.
class OtherAccount {
 public:
  explicit OtherAccount(uid_t account) : own_(::geteuid()) { become(account); }
  ~OtherAccount() { become(own_); }
  OtherAccount(const OtherAccount&) = delete;
  OtherAccount& operator=(const OtherAccount&) = delete;

 private:
  static void become(uid_t account) { ::syscall(SYS_setresuid, kKeep, account, kKeep); }
  uid_t own_;
};

bool is_gone(const ServiceReply& reply) {
  return reply.has_deleted() || reply.error().code() == ServiceError::NOT_FOUND;
}

// Repeats an attempt until it is true, or the service is dead. After kPatience a failure with the
// last reply.
template <typename Attempt>
void repeat(Caller& caller, const std::string& failure, const Attempt& attempt) {
  const auto end = Clock::now() + kPatience;
  ServiceReply reply;
  while (Clock::now() < end && !caller.service().dead()) {
    if (attempt(reply)) return;
    pause(50);
  }
  if (!caller.service().dead()) caller.fail(failure + ": " + brief(reply));
}

// A table of a pendulum that swings.
std::string pendulum_swing() {
  constexpr double kPeriod_s = 4e-3, kDuration_s = 3.0;
  constexpr double kStiffness = 80.0, kDamping = 0.06;  // over the inertia
  constexpr int kStepsPerSample = 10;
  double angle_rad = 1.0, speed = 0.0;
  std::ostringstream table;
  table << "t_s,theta1_rad\n";
  for (int k = 0; k * kPeriod_s < kDuration_s; ++k) {
    table << k * kPeriod_s << ',' << angle_rad << '\n';
    for (int step = 0; step < kStepsPerSample; ++step) {
      constexpr double h = kPeriod_s / kStepsPerSample;
      speed -= h * (kStiffness * std::sin(angle_rad) + kDamping * speed);
      angle_rad += h * speed;
    }
  }
  return table.str();
}

}  // namespace

std::string Who::identity() const {
  if (!account) return "address:" + address;
  const passwd* const entry = ::getpwuid(*account);
  return "account:" + (entry != nullptr ? entry->pw_name : std::to_string(*account));
}

uid_t account_or_own(uid_t wanted) { return ::geteuid() == 0 ? wanted : ::geteuid(); }

SocketClient Caller::connect() const {
  if (!who_.account) return SocketClient(service_.port(), who_.address.c_str());
  const OtherAccount account(*who_.account);
  return SocketClient(service_.socket_path());
}

ServiceReply Caller::ask_once(const ServiceRequest& request) {
  if (!client_) {
    client_.emplace(connect());
    if (!client_->connected() || !client_->greet()) {
      client_.reset();
      return {};
    }
  }
  ServiceReply reply = client_->call(request, kReplyPatience_s);
  if (reply.reply_case() == ServiceReply::REPLY_NOT_SET || client_->closed_by_service(0.0)) {
    client_.reset();
  }
  return reply;
}

ServiceReply Caller::ask(const ServiceRequest& request) {
  const auto end = Clock::now() + kPatience;
  while (Clock::now() < end && !service_.dead()) {
    ServiceReply reply = ask_once(request);
    if (reply.reply_case() != ServiceReply::REPLY_NOT_SET) return reply;
    pause(50);
  }
  if (!service_.dead()) fail("is not answered: " + brief(request));
  return {};
}

std::string brief(const google::protobuf::Message& message) {
  return message.ShortDebugString().substr(0, 600);
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

bool end_session(Caller& caller, const std::string& id) {
  bool ended = false;
  // NOT_READY: the service has not yet noticed that its connection is closed.
  repeat(caller, id + ": cannot be ended", [&](ServiceReply& reply) {
    reply = caller.ask(about(&ServiceRequest::mutable_end_session, id));
    ended = reply.has_session_info();
    if (!ended && reply.error().code() != ServiceError::NOT_READY) {
      caller.fail(id + ": cannot be ended: " + brief(reply));
      return true;
    }
    return ended;
  });
  return ended;
}

std::optional<rigcal::v1::SessionInfo> wait_until_settled(Caller& caller, const std::string& id) {
  std::optional<rigcal::v1::SessionInfo> settled;
  repeat(caller, id + ": reaches no final state", [&](ServiceReply& reply) {
    reply = caller.ask(about(&ServiceRequest::mutable_inspect_session, id));
    if (!reply.has_session_info()) {
      caller.fail(id + ": is not there any more: " + brief(reply));
      return true;
    }
    const auto state = reply.session_info().state();
    if (state == rigcal::v1::SESSION_STORED || state == rigcal::v1::SESSION_FAILED) {
      settled = reply.session_info();
    }
    if (state == rigcal::v1::SESSION_OPEN) end_session(caller, id);  // the closing was lost
    return settled.has_value();
  });
  return settled;
}

bool delete_session(Caller& caller, const std::string& id) {
  bool gone = false;
  repeat(caller, id + ": cannot be deleted", [&](ServiceReply& reply) {
    reply = caller.ask(about(&ServiceRequest::mutable_delete_session, id));
    gone = is_gone(reply);
    const bool not_allowed = reply.error().code() == ServiceError::NOT_ALLOWED;
    if (not_allowed) caller.fail(id + ": cannot be deleted: " + brief(reply));
    if (gone || not_allowed) return true;
    // A service that died may have lost the request.
    caller.ask(about(&ServiceRequest::mutable_end_session, id));
    return false;
  });
  return gone;
}

void delete_job(Caller& caller, const std::string& id) {
  repeat(caller, id + ": cannot be deleted", [&](ServiceReply& reply) {
    caller.ask(about(&ServiceRequest::mutable_cancel_job, id));
    reply = caller.ask(about(&ServiceRequest::mutable_delete_job, id));
    return is_gone(reply);
  });
}

std::optional<proto::Recording> wait_for_recording(Caller& caller, const std::string& session_id) {
  namespace fs = std::filesystem;
  Ledger& ledger = caller.ledger();
  const std::string folder = caller.service().session_folder(session_id);
  const auto began = Clock::now();
  const bool stored = eventually(
      [&] { return fs::exists(folder + "/recording.mcap") && !fs::exists(folder + "/spool"); },
      120.0);
  if (!stored) {
    ledger.fail(session_id + ": its recording is not written");
    return std::nullopt;
  }
  auto recording = proto::read_recording(folder + "/recording.mcap");
  if (!recording.ok()) {
    ledger.fail(session_id + ": " + recording.error().detail);
    return std::nullopt;
  }
  if (!recording.value().scan.container.intact() || recording.value().scan.unreadable_count > 0) {
    ledger.fail(session_id + ": its recording is damaged");
  }
  ledger.count("sessions stored and compared");
  const std::chrono::duration<double> took = Clock::now() - began;
  ledger.note_duration("closing to stored recording, of honest sessions", took.count());
  return std::move(recording.value());
}

void expect_stored(Caller& caller, const std::string& session_id, std::uint64_t sample_count,
                   const std::string& what) {
  const auto stored = wait_for_recording(caller, session_id);
  if (!stored) return;
  bool all = stored->samples.size() == sample_count && stored->gaps.empty() &&
             stored->commands.size() == sample_count;
  for (std::size_t k = 0; all && k < sample_count; ++k) {
    all = same(stored->samples[k], make_sample(k)) && stored->commands[k].command_sequence == k;
  }
  if (!all) caller.ledger().fail(session_id + ": is stored as something else than was sent");
  caller.count(what, stored->samples.size());
  delete_session(caller, session_id);
}

bool upload_pendulum(Caller& caller, const std::string& session_id) {
  static const std::string kTable = pendulum_swing();
  const ServiceReply opened = caller.ask(upload_request(session_id, kTable.size(), "swing.csv"));
  if (opened.upload_state().complete()) return true;
  return opened.has_upload_state() &&
         caller.ask(part_request(session_id, 0, kTable)).upload_state().complete();
}

}  // namespace campaign
