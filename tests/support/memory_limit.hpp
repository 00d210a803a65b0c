#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace test_support {

/// Limits the memory of this process to what it has now and `more_bytes`.
inline void limit_memory(std::uint64_t more_bytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace test_support
