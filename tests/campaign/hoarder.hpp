#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Uses as much as it can of everything: jobs with large inputs that are cancelled at once, endless
/// jobs, sessions with large headers, uploads until refused, streams and connections, lists without
/// reading them.
///
/// Each refusal must say that the share is used up. The refused resources remain for others, which
/// canaries, rigs and calibrations check elsewhere in the campaign. Then it deletes all that it
/// has, and starts again.
class Hoarder {
 public:
  Hoarder(Caller caller, std::uint64_t seed) : caller_(std::move(caller)), random_(seed) {}

  void run(const std::atomic<bool>& stop);

 private:
  void hoard_cancelled_jobs();
  void hoard_endless_jobs();
  void hoard_sessions();
  void hoard_disk();
  void hoard_streams();
  void hoard_connections();
  void hoard_replies();
  void ask_for_lists();

  void expect_share(const std::string& what, const std::optional<std::string>& refusal,
                    const Caller::Calm& calm);
  std::optional<std::string> upload(std::uint64_t size_bytes, std::uint64_t sent_bytes);
  bool prepare_recording();
  void delete_all_jobs();
  void delete_all_sessions();

  Caller caller_;
  std::mt19937_64 random_;
  std::string recording_;  // session that jobs name
  int count_ = 0;          // of ids
};

}  // namespace campaign
