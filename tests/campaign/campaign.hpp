#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace campaign {

/// What docs/service.md promises that the service itself takes at most.
#ifdef RIG_SANITIZED
inline constexpr double kMemoryMax_mb = 0.0;  // a sanitizer takes several times as much itself
#else
inline constexpr double kMemoryMax_mb = 1190.0;
#endif

struct CampaignOptions {
  std::uint64_t seed = 1;
  double duration_s = 60.0;
  std::string programs;  ///< folder of rigcald, rigcal, rigcal-daq and rigcal-sim
  int real_rigs = 2;
  int made_up_rigs = 3;
  int hostile_clients = 2;
  int crowd = 600;                       ///< connections of a crowd
  bool disturb = true;                   ///< kill the service, fill its disk and make it fail
  bool attackers = true;                 ///< poisoner, hoarder, thief and numbers
  double memory_mb_max = kMemoryMax_mb;  ///< of the service itself; 0: any
};

/// Runs a campaign and prints what happened. Which disturbance comes when, and what each client
/// does, follows from the seed; how the threads and processes meet does not.
/// @return true when nothing went wrong
bool run_campaign(const CampaignOptions& options, std::ostream& out);

}  // namespace campaign
