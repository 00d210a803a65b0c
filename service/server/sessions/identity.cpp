#include "service/server/sessions/identity.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace service {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the account's name, or its number if it has none.
std::string account_name(uid_t user) {
  std::array<char, 4096> storage{};
  passwd entry{};
  passwd* found = nullptr;
  const int failed = ::getpwuid_r(user, &entry, storage.data(), storage.size(), &found);
  return failed == 0 && found != nullptr ? entry.pw_name : std::to_string(user);
}

std::string address_text(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return text.data();
  }
  if (peer.ss_family != AF_INET6) return "unknown";
  in6_addr address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  if (IN6_IS_ADDR_LOOPBACK(&address)) return "::1";
  std::memset(&address.s6_addr[8], 0, 8);
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

}  // namespace

Identity identify_socket_peer(int socket, const OperatorNames& operators) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return {"address:unknown", false};
  }
  if (peer.ss_family != AF_UNIX) return {"address:" + address_text(peer), false};
  ucred credentials{};
  size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return {"account:unknown", false};
  }
  const std::string name = account_name(credentials.uid);
  // Root and the service's own account can change the files anyway.
  const bool owns_files = credentials.uid == 0 || credentials.uid == ::geteuid();
  return {"account:" + name, owns_files || contains(operators.accounts, name)};
}

Identity identify_certificate(const std::string& name, const OperatorNames& operators) {
  return {"certificate:" + name, contains(operators.certificates, name)};
}

std::string describe_ownership_error(const std::string& what, const std::string& owner,
                                     const Identity& who) {
  return what + " belongs to " +
         (owner.empty() ? "nobody (an older version created it, or its record is damaged)"
                        : "\"" + owner + "\"") +
         ", not to \"" + who.name +
         "\"; its owner or an operator of this service (operators in its settings) may do that";
}

}  // namespace service
