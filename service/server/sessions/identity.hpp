#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace service {

/// Identity of the client at the other end of a connection. An identity owns the sessions and jobs
/// that it creates, and has a separate share of every limit of the service.
struct Identity {
  /// Name of the identity: "certificate:NAME" for a TLS client, "account:NAME" at the Unix socket,
  /// "address:ADDRESS" otherwise. The prefix keeps names of different kinds distinct.
  std::string name;
  bool is_operator = false;  ///< may end, cancel and delete sessions and jobs of other identities

  /// Returns whether this identity may end, cancel or delete a session or job of `owner`. Sessions
  /// and jobs of older versions have no owner; only operators may change those.
  bool may_change_items_of(const std::string& owner) const {
    return is_operator || (!owner.empty() && owner == name);
  }
};

/// Identities that are operators of the service, as listed in its settings (proto/daemon.proto).
struct OperatorNames {
  std::vector<std::string> certificates;
  std::vector<std::string> accounts;
};

/// Returns the identity of the peer of a Unix or TCP socket as the kernel reports it. All IPv6
/// addresses of a /64 network give one identity, since a host can use every address of its network.
Identity identify_socket_peer(int socket, const OperatorNames& operators);

/// Returns the identity of an account of this machine.
Identity identify_account(uid_t user, const OperatorNames& operators);

/// Returns the account of the process at the other end of a TCP connection within this machine;
/// nullopt if the kernel does not list an open socket for it. Reads /proc/net.
std::optional<uid_t> find_loopback_peer_account(int socket);

/// Returns the identity with a given name, "account:NAME" or "certificate:NAME".
Identity identify_name(const std::string& name, const OperatorNames& operators);

/// Returns the identity of a client with a TLS certificate.
/// @param name  common name of the certificate, see proto::peer_name
Identity identify_certificate(const std::string& name, const OperatorNames& operators);

/// Returns a message that explains why the identity `who` may not change a session or job of
/// `owner`, and who may.
/// @param what  the session or job, e.g. "job 'x'"
std::string describe_ownership_error(const std::string& what, const std::string& owner,
                                     const Identity& who);

}  // namespace service
