#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/service/server/socket_client.hpp"

namespace campaign {

/// Any data that may reach a socket: noise, lengths of gigabytes, messages that expand in memory,
/// connections that never finish a message or never read, crowds of them, requests for missing
/// objects, damaged copies of correct streams.
class HostileClient {
 public:
  /// @param crowd  largest number of simultaneous connections
  HostileClient(ServiceUnderTest& service, Ledger& ledger, std::uint64_t seed, int crowd);

  void run(const std::atomic<bool>& stop);

 private:
  using Client = test_support::SocketClient;

  void send_noise();
  void send_giant_length();
  void send_unfolding_message();
  void hang_half_open();
  void drip();
  void crowd();
  void never_read();
  void ask_nonsense();
  void send_damaged_stream();
  std::string noise(std::size_t size_bytes_max);

  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int crowd_;
};

}  // namespace campaign
