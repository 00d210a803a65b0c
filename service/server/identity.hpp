#pragma once

#include <string>
#include <vector>

namespace service {

/// The client at the other end of a connection. It owns the sessions and jobs it creates, and has
/// its own share of every limit.
struct Identity {
  /// "certificate:NAME" with TLS, "account:NAME" at the Unix socket, else "address:ADDRESS". The
  /// prefix keeps names of different kinds distinct.
  std::string name;
  bool is_operator = false;  ///< may end, cancel and delete others' sessions and jobs

  /// Whether it may end, cancel or delete a session or job of `owner`. Only operators may change
  /// those without an owner, which older versions created.
  bool may_change(const std::string& owner) const {
    return is_operator || (!owner.empty() && owner == name);
  }
};

/// The operators, as listed in proto/daemon.proto.
struct Operators {
  std::vector<std::string> certificates;
  std::vector<std::string> accounts;
};

/// Returns the peer of a Unix or TCP socket as the kernel reports it. IPv6 addresses are grouped by
/// /64 network, since a host can use every address of its own.
Identity identify_socket(int socket, const Operators& operators);

/// Returns the identity of a client certificate.
/// @param name  its common name, see proto::peer_name
Identity identify_certificate(const std::string& name, const Operators& operators);

/// Returns why `who` may not change a session or job of `owner`, and what to do.
/// @param what  e.g. "job 'x'"
std::string describe_ownership_error(const std::string& what, const std::string& owner,
                                     const Identity& who);

}  // namespace service
