/* The switch of mutants that tests/mutation/mutate.py compiles into a module.
 *
 * RIG_MUTANT=17 makes mutant_is(17) true. RIG_MUTATION_TRACE=FILE appends the number of each mutant
 * that the program asks for to FILE, once a process, so that FILE lists the mutants that a test
 * reaches, also in the processes that the test starts and kills. Nothing here allocates memory,
 * because tests count allocations.
 *
 * All definitions are weak: each mutated source file has its own, and the linker keeps one. */
#pragma once

#ifdef __linux__

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MUTANT_COUNT_MAX = 100000, MUTANT_UNREAD = -1, MUTANT_TRACED = -2 };

__attribute__((weak)) int mutant_active = MUTANT_UNREAD; /* 0: none */
__attribute__((weak)) unsigned char mutant_reached[MUTANT_COUNT_MAX];

__attribute__((weak, noinline)) int mutant_write_trace(int number) {
  char line[16];
  int first = (int)sizeof line;
  const char* path = getenv("RIG_MUTATION_TRACE");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
  mutant_reached[number] = 1;
  line[--first] = '\n';
  for (; number > 0; number /= 10) line[--first] = (char)('0' + number % 10);
  if (file < 0) return 0;
  if (write(file, line + first, sizeof line - (size_t)first) < 0) abort();
  close(file);
  return 0;
}

__attribute__((weak, noinline)) int mutant_read_switch(int number) {
  if (mutant_active == MUTANT_UNREAD) {
    const char* chosen = getenv("RIG_MUTANT");
    mutant_active = chosen ? atoi(chosen) : getenv("RIG_MUTATION_TRACE") ? MUTANT_TRACED : 0;
  }
  if (mutant_active == MUTANT_TRACED) {
    return mutant_reached[number] ? 0 : mutant_write_trace(number);
  }
  return mutant_active == number;
}

/* Returns whether the mutant of this number, from 1, is chosen. */
static inline int mutant_is(int number) {
  return mutant_active >= 0 ? mutant_active == number : mutant_read_switch(number);
}

/* Returns the sign of a term of class type, whose sum and difference have different types. */
static inline double mutant_sign(int number) { return mutant_is(number) ? -1.0 : 1.0; }

#ifdef __cplusplus
}
#endif

#else /* firmware of a unit: no mutants */
#define mutant_is(number) 0
#define mutant_sign(number) 1.0
#endif
