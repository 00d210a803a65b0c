#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "proto/recording/recording_reader.hpp"
#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/service/server/socket_client.hpp"

namespace campaign {

inline constexpr double kReplyPatience_s = 30.0;

/// Identity of a client for the service: a loopback address over TCP, or a local account at the
/// Unix socket.
struct Who {
  std::string address = "127.0.0.1";
  std::optional<uid_t> account{};  ///< if set, the address has no meaning

  /// Name of the identity in the service.
  std::string identity() const;
};

/// The account of a client besides root's: `wanted` if this program may switch to it, otherwise its
/// own.
uid_t account_or_own(uid_t wanted);

/// A client of the service with one identity, over as many connections as needed.
class Caller {
 public:
  Caller(std::string name, Who who, ServiceUnderTest& service, Ledger& ledger)
      : name_(std::move(name)), who_(std::move(who)), service_(service), ledger_(ledger) {}

  /// A connection on which nothing has been sent.
  test_support::SocketClient connect() const;

  /// The reply to a request, repeated over new connections until there is one. Empty, with a
  /// failure in the ledger, if none came for kPatience; empty if the service is dead.
  rigcal::v1::ServiceReply ask(const rigcal::v1::ServiceRequest& request);

  /// Tries once: empty if no reply came.
  rigcal::v1::ServiceReply ask_once(const rigcal::v1::ServiceRequest& request);

  /// The next ask() uses a new connection.
  void hang_up() { client_.reset(); }

  /// The service has not been disturbed since, so a refusal is due to this client.
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
  Ledger& ledger() const { return ledger_; }

 private:
  std::string name_;
  Who who_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::optional<test_support::SocketClient> client_;  // after the greeting
};

/// Lets this thread wait.
void pause(int milliseconds);

/// A shortened text for people.
std::string brief(const google::protobuf::Message& message);

/// Closes a session without its rig, waits for its final state and deletes it. Repeats its requests
/// as long as necessary. False if a reply was final and wrong.
bool end_session(Caller& caller, const std::string& id);
std::optional<rigcal::v1::SessionInfo> wait_until_settled(Caller& caller, const std::string& id);
bool delete_session(Caller& caller, const std::string& id);
/// Cancels a job, waits for its end and deletes it.
void delete_job(Caller& caller, const std::string& id);

/// Waits until a closed session is stored, and reads the recording. Empty, with a failure in the
/// ledger, if that does not happen.
std::optional<proto::Recording> wait_for_recording(Caller& caller, const std::string& session_id);

/// The same for a session of batch_request()s, which is compared, counted as `what` and deleted.
void expect_stored(Caller& caller, const std::string& session_id, std::uint64_t sample_count,
                   const std::string& what);

/// Uploads the swing of a pendulum as a session. False if the service disappeared or is full.
bool upload_pendulum(Caller& caller, const std::string& session_id);

}  // namespace campaign
