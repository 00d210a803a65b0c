#pragma once

#include <string>
#include <vector>

namespace service {

/// Who is at the other end of a connection. It owns what it makes, and has its share of every
/// limit.
struct Identity {
  /// "certificate:NAME" with TLS, "account:NAME" at the Unix socket, else "address:ADDRESS": no
  /// name of one kind is taken for one of another.
  std::string name;
  bool is_operator = false;  ///< may end, cancel and delete what others have made

  /// Whether it may end, cancel or delete what `owner` has made. What was made before there were
  /// owners is for operators.
  bool may_change(const std::string& owner) const {
    return is_operator || (!owner.empty() && owner == name);
  }
};

/// Who the operators are, as proto/daemon.proto names them.
struct Operators {
  std::vector<std::string> certificates;
  std::vector<std::string> accounts;
};

/// Whoever has connected a Unix socket or an address, told by the kernel. An IPv6 address counts by
/// the network that its host has to itself, /64.
Identity identify_socket(int socket, const Operators& operators);

/// Whoever showed this certificate.
/// @param name  its common name, see proto::peer_name
Identity identify_certificate(const std::string& name, const Operators& operators);

/// Why `who` may not change what belongs to `owner`, with what to do.
/// @param what  e.g. "job 'x'"
std::string ownership_text(const std::string& what, const std::string& owner, const Identity& who);

}  // namespace service
