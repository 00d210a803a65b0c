#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace campaign {

struct CampaignOptions {
  std::uint64_t seed = 1;
  double duration_s = 15.0;
  std::string programs;  ///< folder of rigcald, rigcal, rigcal-daq and rigcal-sim
  int real_rigs = 2;
  int made_up_rigs = 3;
  int hostile_clients = 2;
  int crowd = 300;  ///< connections of a crowd
};

/// Runs a campaign and prints what happened. Which disturbance comes when, and what each client
/// does, follows from the seed; how the threads and processes meet does not.
/// @return true when nothing went wrong
bool run_campaign(const CampaignOptions& options, std::ostream& out);

}  // namespace campaign
