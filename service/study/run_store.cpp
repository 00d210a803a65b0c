#include "service/study/run_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/study/study_run_line.hpp"

namespace service {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw proto::InputError(path + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

RunStore::RunStore(const std::string& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail(path_, "cannot be written");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw proto::InputError(path_ + ": another study is writing to this folder; wait for it or " +
                            "give another --out");
  }
  const std::string text = proto::read_file(path_, proto::kTableSizeMax);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    if (std::optional<StudyRun> run = parse_study_run(text.substr(begin, end - begin))) {
      std::string key = run->key;
      runs_.insert_or_assign(std::move(key), *std::move(run));
    }
    begin = end + 1;
  }
  if (begin < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(begin)) != 0) {
    fail(path_, "its truncated last line cannot be removed");
  }
}

RunStore::~RunStore() { ::close(descriptor_); }

const StudyRun* RunStore::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : &found->second;
}

void RunStore::append(const StudyRun& run) {
  const std::string line = study_run_line(run) + '\n';
  const std::lock_guard lock(mutex_);
  if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    fail(path_, "cannot be written");
  }
  runs_.insert_or_assign(run.key, run);
}

}  // namespace service
