#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace campaign {

/// Largest memory of the service itself that docs/service.md promises.
#ifdef RIG_SANITIZED
inline constexpr double kMemoryMax_mb = 0.0;  // a sanitizer alone needs several times as much
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
  bool disturb = true;                   ///< kills the service, fills its disk and makes it fail
  bool attackers = true;                 ///< poisoner, hoarder, thief and numbers
  double memory_mb_max = kMemoryMax_mb;  ///< of the service itself; 0: any
};

/// Runs a campaign and prints a report. The seed determines the disturbances and each client's
/// actions, but not the timing of threads and processes. @return true if nothing failed
bool run_campaign(const CampaignOptions& options, std::ostream& out);

}  // namespace campaign
