#pragma once

#include <cstdint>

namespace test_support {

/// Number of random runs of a test campaign and the seed of the first run, from the program's
/// arguments. A test makes a few hundred runs; a developer can request any number:
///
///    daq_campaign_tests --runs=10000 --seed=1
struct SeededRuns {
  int count = 300;
  std::uint64_t first_seed = 1;
};

/// Returns the settings that the main function of seeded_runs_main.cpp read before any test.
const SeededRuns& seeded_runs();

}  // namespace test_support
