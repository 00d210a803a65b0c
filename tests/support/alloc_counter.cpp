#include "tests/support/alloc_counter.hpp"

#include <cerrno>
#include <cstddef>

// glibc keeps its allocator under these names too, so the public ones can be replaced.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

#ifdef RIG_SANITIZED
constexpr bool kReplaced = false;
#else
constexpr bool kReplaced = true;
#endif

thread_local std::int64_t allocations = 0;

}  // namespace

#ifndef RIG_SANITIZED
extern "C" {

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#endif

namespace test_support {

AllocCounter::AllocCounter() noexcept : start_(allocations) {}
std::int64_t AllocCounter::count() const noexcept { return allocations - start_; }
bool AllocCounter::works() noexcept { return kReplaced; }

}  // namespace test_support
