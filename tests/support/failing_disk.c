/* Simulates a disk that fails to write once. RIGCAL_FAILING_DISK names a switch file. While it
 * exists, the next fsync or fdatasync of a *.spool or *.part file written by this process loses the
 * bytes written since the last one (they read as zeros, as from a disk), fails with EIO, and
 * deletes the switch file. Later calls succeed, as on Linux, where pages count as written once the
 * failure was reported. If the switch file is not empty, the failing call reports success too. Link
 * this library, or name it in LD_PRELOAD.
 *
 * Also simulates a disk that hangs: while the file that RIGCAL_HANGING_DISK names exists, no fsync
 * or fdatasync of these files returns, as when a network file system has lost its server. While it
 * is empty, no write returns either, as on a frozen file system. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 4096 };

/* Range of a file that was written since its last successful sync. */
typedef struct {
  dev_t device;
  ino_t inode;
  off_t from;
  off_t to;
} dirty_range;

static dirty_range dirty[FILES_MAX];
static int dirty_count = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* real(const char* name) { return dlsym(RTLD_NEXT, name); }

static ssize_t real_pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  ssize_t (*call)(int, const void*, size_t, off_t) = 0;
  *(void**)&call = real("pwrite");
  return call(fd, bytes, size, offset);
}

static int ends_with(const char* path, ssize_t size, const char* end) {
  const ssize_t length = (ssize_t)strlen(end);
  return size > length && memcmp(path + size - length, end, (size_t)length) == 0;
}

static int is_watched_file(int fd, struct stat* facts) {
  char link[64], path[4096];
  if (fstat(fd, facts) != 0 || !S_ISREG(facts->st_mode)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  return ends_with(path, size, ".spool") || ends_with(path, size, ".part");
}

static dirty_range* range_of(const struct stat* facts) {
  for (int k = 0; k < dirty_count; ++k) {
    if (dirty[k].device == facts->st_dev && dirty[k].inode == facts->st_ino) return &dirty[k];
  }
  if (dirty_count == FILES_MAX) abort();
  dirty_range* const range = &dirty[dirty_count++];
  range->device = facts->st_dev;
  range->inode = facts->st_ino;
  range->from = range->to = 0;
  return range;
}

static void wait_while_it_hangs(int fd, int is_write) {
  const char* const switch_path = getenv("RIGCAL_HANGING_DISK");
  const struct timespec turn = {0, 5000000};
  struct stat facts, switch_facts;
  if (switch_path == NULL || !is_watched_file(fd, &facts)) return;
  while (stat(switch_path, &switch_facts) == 0 && !(is_write && switch_facts.st_size > 0)) {
    nanosleep(&turn, NULL);
  }
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  struct stat facts;
  wait_while_it_hangs(fd, 1);
  const ssize_t written = real_pwrite(fd, bytes, size, offset);
  if (written > 0 && is_watched_file(fd, &facts)) {
    pthread_mutex_lock(&mutex);
    dirty_range* const range = range_of(&facts);
    const off_t end = offset + (off_t)written;
    const int clean = range->from == range->to;
    if (clean || offset < range->from) range->from = offset;
    if (clean || end > range->to) range->to = end;
    pthread_mutex_unlock(&mutex);
  }
  return written;
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite(fd, bytes, size, offset);
}

/* True if this call must fail and report it. */
static int fails(int fd, const struct stat* facts) {
  const char* const switch_path = getenv("RIGCAL_FAILING_DISK");
  dirty_range* const range = range_of(facts);
  const dirty_range lost = *range;
  range->from = range->to = 0;
  if (lost.from == lost.to || switch_path == NULL) return 0;
  struct stat switch_facts;
  const int lies = stat(switch_path, &switch_facts) == 0 && switch_facts.st_size > 0;
  if (unlink(switch_path) != 0) return 0;
  char link[64]; /* fd may be open for reading only */
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int file = open(link, O_WRONLY | O_CLOEXEC);
  const char zero = 0;
  for (off_t at = lost.from; at < lost.to && at < facts->st_size; ++at) {
    if (real_pwrite(file, &zero, 1, at) != 1) abort();
  }
  close(file);
  return !lies;
}

static int sync_file(const char* name, int fd) {
  int (*call)(int) = 0;
  *(void**)&call = real(name);
  struct stat facts;
  wait_while_it_hangs(fd, 0);
  if (is_watched_file(fd, &facts)) {
    pthread_mutex_lock(&mutex);
    const int failed = fails(fd, &facts);
    pthread_mutex_unlock(&mutex);
    if (failed) {
      errno = EIO;
      return -1;
    }
  }
  return call(fd);
}

int fsync(int fd) { return sync_file("fsync", fd); }
int fdatasync(int fd) { return sync_file("fdatasync", fd); }
