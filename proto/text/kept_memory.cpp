#include "proto/text/kept_memory.hpp"

#include <malloc.h>

namespace proto {
namespace {

constexpr int kLargestOnHeap = 32 << 20;  // largest block on the heap, the maximum of glibc [byte]
constexpr int kKept = 1 << 30;            // freed memory to keep [byte]

}  // namespace

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, kLargestOnHeap);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace proto
