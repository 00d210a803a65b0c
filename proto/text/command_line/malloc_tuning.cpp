#include "proto/text/command_line/malloc_tuning.hpp"

#include <malloc.h>

namespace proto {
namespace {

constexpr int kLargestOnHeap = 32 << 20;  // largest block on the heap, the maximum of glibc [byte]
constexpr int kKept = 1 << 30;            // freed memory to keep [byte]

}  // namespace

void enable_memory_reuse() {
  mallopt(M_MMAP_THRESHOLD, kLargestOnHeap);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace proto
