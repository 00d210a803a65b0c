#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/service/server/socket_client.hpp"

namespace campaign {

/// Who somebody is for the service: a loopback address over TCP, or a local account at the Unix
/// socket.
struct Who {
  std::string address = "127.0.0.1";
  std::optional<uid_t> account{};  ///< and then the address counts for nothing

  /// As the service calls it.
  std::string identity() const;
};

/// The account that a client may have beside root's: `wanted` where this program may become it,
/// else the one that it runs as.
uid_t account_or_own(uid_t wanted);

/// A client of the service under one identity, over as many connections as it takes.
class Caller {
 public:
  Caller(std::string name, Who who, ServiceUnderTest& service, Ledger& ledger)
      : name_(std::move(name)), who_(std::move(who)), service_(service), ledger_(ledger) {}

  /// A connection that has not said anything.
  test_support::SocketClient connect() const;

  /// The reply to a request, asked again over new connections while there is none. Empty, with a
  /// failure in the ledger, if none came for kPatience; empty where the service is dead.
  rigcal::v1::ServiceReply ask(const rigcal::v1::ServiceRequest& request);

  /// The same once: empty where no reply came.
  rigcal::v1::ServiceReply ask_once(const rigcal::v1::ServiceRequest& request);

  /// The next ask() begins with a new connection.
  void hang_up() { client_.reset(); }

  /// Nobody disturbed the service since: what was refused was refused for this client's own doing.
  class Calm {
   public:
    explicit Calm(const ServiceUnderTest& service)
        : service_(&service), since_(service.disturbances()) {}
    bool lasted() const { return since_ % 2 == 0 && service_->disturbances() == since_; }

   private:
    const ServiceUnderTest* service_;
    std::uint64_t since_;
  };
  Calm calm() const { return Calm(service_); }

  void fail(const std::string& what) { ledger_.fail(name_ + ": " + what); }
  void count(const std::string& what, std::uint64_t by = 1) { ledger_.count(what, by); }

  const std::string& name() const { return name_; }
  const Who& who() const { return who_; }
  ServiceUnderTest& service() const { return service_; }

 private:
  std::string name_;
  Who who_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::optional<test_support::SocketClient> client_;  // one that has greeted
};

/// As far as people would read it.
std::string brief(const google::protobuf::Message& message);

/// Closes a session without its rig, waits until it has reached a final state and deletes it. The
/// answers are asked for as long as it takes; false where one was final and not what it must be.
bool end_session(Caller& caller, const std::string& id);
std::optional<rigcal::v1::SessionInfo> wait_until_settled(Caller& caller, const std::string& id);
bool delete_session(Caller& caller, const std::string& id);
/// Cancels a job, waits for its end and deletes it.
void delete_job(Caller& caller, const std::string& id);

}  // namespace campaign
