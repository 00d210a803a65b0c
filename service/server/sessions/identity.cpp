#include "service/server/sessions/identity.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

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

// Returns an address and port as /proc/net/tcp or /proc/net/tcp6 writes them; empty if the address
// cannot be in that table. A socket of IPv6 may have an IPv4 peer.
std::string proc_net_address(const sockaddr_storage& address, bool v6) {
  std::array<std::uint32_t, 4> words{0, 0, htonl(0xffff), 0};
  std::uint16_t port = 0;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    words[3] = v4.sin_addr.s_addr;
    port = ntohs(v4.sin_port);
  } else {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(words.data(), &in6.sin6_addr, sizeof words);
    port = ntohs(in6.sin6_port);
    if (!v6 && !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) return "";
  }
  std::array<char, 48> text{};
  if (v6) {
    std::snprintf(text.data(), text.size(), "%08X%08X%08X%08X:%04X", words[0], words[1], words[2],
                  words[3], port);
  } else {
    std::snprintf(text.data(), text.size(), "%08X:%04X", words[3], port);
  }
  return text.data();
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
  return identify_account(credentials.uid, operators);
}

Identity identify_account(uid_t user, const OperatorNames& operators) {
  const std::string name = account_name(user);
  // Root and the service's own account can change the files anyway.
  const bool owns_files = user == 0 || user == ::geteuid();
  return {"account:" + name, owns_files || contains(operators.accounts, name)};
}

std::optional<uid_t> find_loopback_peer_account(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return std::nullopt;
  }
  for (const bool v6 : {false, true}) {
    const std::string wanted = proc_net_address(peer, v6) + " " + proc_net_address(own, v6);
    if (wanted.size() < 8) continue;
    std::ifstream table(v6 ? "/proc/net/tcp6" : "/proc/net/tcp");
    for (std::string line; std::getline(table, line);) {
      const std::size_t at = line.find(wanted + " 01 ");  // 01: established
      if (at == std::string::npos) continue;
      // After the state: queues, timer, retransmissions, user, timeout, inode. A socket that its
      // process has closed has user 0 and inode 0.
      std::istringstream rest(line.substr(at + wanted.size() + 4));
      std::string queues, timer, retransmissions;
      std::uint64_t user = 0, timeout = 0, inode = 0;
      rest >> queues >> timer >> retransmissions >> user >> timeout >> inode;
      if (rest && inode != 0) return static_cast<uid_t>(user);
    }
  }
  return std::nullopt;
}

Identity identify_name(const std::string& name, const OperatorNames& operators) {
  const auto listed = [&](const std::string& prefix, const std::vector<std::string>& names) {
    return name.starts_with(prefix) && contains(names, name.substr(prefix.size()));
  };
  return {name,
          listed("certificate:", operators.certificates) || listed("account:", operators.accounts)};
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
