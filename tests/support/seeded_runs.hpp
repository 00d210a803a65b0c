#pragma once

#include <cstdint>

namespace test_support {

/// Number of runs of a seeded campaign, from the program's arguments: a few hundred as a test, any
/// number by hand:
///
///    daq_campaign_tests --runs=10000 --seed=1
struct SeededRuns {
  int count = 300;
  std::uint64_t first_seed = 1;
};

/// Set by the main of seeded_runs_main.cpp before any test.
const SeededRuns& seeded_runs();

}  // namespace test_support
