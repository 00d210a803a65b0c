#include "tests/campaign/caller.hpp"

#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "proto/stream/service_limits.hpp"

namespace campaign {
namespace {

using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;
using test_support::SocketClient;
using Clock = std::chrono::steady_clock;

constexpr double kReplyPatience_s = 30.0;
constexpr uid_t kKeep = static_cast<uid_t>(-1);

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

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
    pause();
  }
  if (!service_.dead()) fail("is not answered: " + brief(request));
  return {};
}

std::string brief(const google::protobuf::Message& message) {
  return message.ShortDebugString().substr(0, 600);
}

bool end_session(Caller& caller, const std::string& id) {
  ServiceRequest request;
  request.mutable_end_session()->set_session_id(id);
  const auto end = Clock::now() + kPatience;
  while (Clock::now() < end && !caller.service().dead()) {
    const ServiceReply reply = caller.ask(request);
    if (reply.has_session_info()) return true;
    if (reply.error().code() != ServiceError::NOT_READY) {
      caller.fail(id + ": cannot be ended: " + brief(reply));
      return false;
    }
    pause();  // the service has not yet noticed that its connection is closed
  }
  return false;
}

std::optional<rigcal::v1::SessionInfo> wait_until_settled(Caller& caller, const std::string& id) {
  ServiceRequest request;
  request.mutable_inspect_session()->set_session_id(id);
  const auto end = Clock::now() + kPatience;
  rigcal::v1::SessionInfo info;
  while (Clock::now() < end && !caller.service().dead()) {
    const ServiceReply reply = caller.ask(request);
    if (!reply.has_session_info()) {
      caller.fail(id + ": is not there any more: " + brief(reply));
      return std::nullopt;
    }
    info = reply.session_info();
    if (info.state() == rigcal::v1::SESSION_STORED || info.state() == rigcal::v1::SESSION_FAILED) {
      return info;
    }
    if (info.state() == rigcal::v1::SESSION_OPEN) end_session(caller, id);  // the closing was lost
    pause();
  }
  if (!caller.service().dead()) caller.fail(id + ": reaches no final state: " + brief(info));
  return std::nullopt;
}

bool delete_session(Caller& caller, const std::string& id) {
  ServiceRequest request, finish;
  request.mutable_delete_session()->set_session_id(id);
  finish.mutable_end_session()->set_session_id(id);
  const auto end = Clock::now() + kPatience;
  ServiceReply reply;
  while (Clock::now() < end && !caller.service().dead()) {
    reply = caller.ask(request);
    if (reply.has_deleted() || reply.error().code() == ServiceError::NOT_FOUND) return true;
    if (reply.error().code() == ServiceError::NOT_ALLOWED) break;
    caller.ask(finish);  // a service that died may have lost the request
    pause();
  }
  if (!caller.service().dead()) caller.fail(id + ": cannot be deleted: " + brief(reply));
  return false;
}

void delete_job(Caller& caller, const std::string& id) {
  ServiceRequest cancel, remove;
  cancel.mutable_cancel_job()->set_job_id(id);
  remove.mutable_delete_job()->set_job_id(id);
  const auto end = Clock::now() + kPatience;
  ServiceReply reply;
  while (Clock::now() < end && !caller.service().dead()) {
    caller.ask(cancel);
    reply = caller.ask(remove);
    if (reply.has_deleted() || reply.error().code() == ServiceError::NOT_FOUND) return;
    pause();
  }
  if (!caller.service().dead()) caller.fail(id + ": cannot be deleted: " + brief(reply));
}

}  // namespace campaign
