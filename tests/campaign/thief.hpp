#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <type_traits>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Lists all sessions and jobs, as everyone may, and attacks those of others: opens them again
/// without a secret, with a guessed one and with a truncated one, writes other content under
/// acknowledged numbers, closes, ends and deletes them, adds to their uploads, cancels and deletes
/// their jobs.
///
/// Each attempt must be refused. The victims check their own content.
class Thief {
 public:
  /// @param accomplice  with the victims' own identity, where only the secret protects a stream
  Thief(Caller caller, Caller accomplice, std::uint64_t seed)
      : caller_(std::move(caller)), accomplice_(std::move(accomplice)), random_(seed) {}

  void run(const std::atomic<bool>& stop);

 private:
  template <typename Infos>
  auto choose(const Infos& infos) -> std::optional<std::decay_t<decltype(infos[0])>>;
  std::optional<rigcal::v1::SessionInfo> choose_session();
  std::optional<rigcal::v1::JobInfo> choose_job();
  void rob(const rigcal::v1::SessionInfo& victim);
  void rob(const rigcal::v1::JobInfo& victim);
  void break_in(Caller& as, const rigcal::v1::SessionInfo& victim);
  void add_to_upload(const rigcal::v1::SessionInfo& victim);
  void use(const rigcal::v1::SessionInfo& victim);
  void expect_not_allowed(const std::string& what, const rigcal::v1::ServiceRequest& request);
  std::string guess(const std::string& id);

  Caller caller_;
  Caller accomplice_;
  std::mt19937_64 random_;
  int count_ = 0;  // of ids
};

}  // namespace campaign
