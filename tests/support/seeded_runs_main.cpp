#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/seeded_runs.hpp"

namespace {

test_support::SeededRuns& runs() {
  static test_support::SeededRuns runs;
  return runs;
}

// Reads the number after `name` in the argument; false if it is another argument.
bool read(const std::string& argument, const std::string& name, long long& value) {
  if (!argument.starts_with(name)) return false;
  char* end = nullptr;
  value = std::strtoll(argument.c_str() + name.size(), &end, 10);
  if (*end == '\0' && value > 0) return true;
  std::fprintf(stderr, "%s needs a positive number, not '%s'\n", name.c_str(),
               argument.c_str() + name.size());
  std::exit(2);
}

}  // namespace

const test_support::SeededRuns& test_support::seeded_runs() { return runs(); }

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int k = 1; k < argc; ++k) {
    long long value = 0;
    if (read(argv[k], "--runs=", value)) {
      runs().count = static_cast<int>(value);
    } else if (read(argv[k], "--seed=", value)) {
      runs().first_seed = static_cast<std::uint64_t>(value);
    } else {
      std::fprintf(stderr, "'%s' is no option; there are --runs=N and --seed=N\n", argv[k]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
