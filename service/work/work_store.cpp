#include "service/work/work_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_set>
#include <utility>

#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".results";

/// Time between synchronizations to the disk [s]: a crash of the machine costs at most this time.
constexpr double kSynchronizationInterval = 1.0;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail_store(const std::string& path, const char* what, int error) {
  throw proto::InputError(path + ": " + what + ": " + std::strerror(error) +
                          "; correct this and repeat the command, which continues with the "
                          "missing results");
}

/// Returns `count` bytes of a file, or fewer at its end.
std::string read_part(const std::string& path, std::uint64_t offset, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// Returns a name that no other writer uses: machine, process and time.
std::string writer_name() {
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "host");
  const auto time = std::chrono::system_clock::now().time_since_epoch().count();
  return std::string(host) + "-" + std::to_string(::getpid()) + "-" + std::to_string(time);
}

/// Fields of a result's line: key, computing time, failure, value.
enum Field : std::size_t { kKey, kWallTime, kFailure, kValue, kFieldCount };

}  // namespace

WorkStore::WorkStore(std::string folder, std::string writer)
    : folder_(std::move(folder)), writer_(writer.empty() ? "" : writer + "-") {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw proto::InputError(folder_ + ": cannot be created: " + error.message() +
                            "; give another folder");
  }
  refresh();
}

WorkStore::~WorkStore() {
  if (descriptor_ < 0) return;
  ::fdatasync(descriptor_);
  ::close(descriptor_);
}

void WorkStore::refresh() {
  const std::scoped_lock lock(mutex_);
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_read = name.starts_with(writer_) && name.ends_with(kEnding);
    if (is_read && entry.path() != own_file_) files.push_back(entry.path().string());
  }
  if (error) {
    throw proto::InputError(folder_ + ": cannot be read: " + error.message() +
                            "; give another folder");
  }
  // In the order of names: if items were stored twice, every reader uses the same result.
  std::ranges::sort(files);
  for (const std::string& file : files) read_new_lines(file);
}

void WorkStore::read_new_lines(const std::string& file) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::uint64_t& read = read_[file];
  std::string bytes;  // from the start of the first unread line
  for (;;) {
    const std::string more = read_part(file, read + bytes.size(), kPart);
    bytes += more;
    std::size_t start = 0;
    for (std::size_t end; (end = bytes.find('\n', start)) != std::string::npos; start = end + 1) {
      const std::string_view line = std::string_view(bytes).substr(start, end - start);
      const auto fields = parse_work_line(line);
      if (!fields || fields->size() != kFieldCount) continue;
      places_.try_emplace(fields->at(kKey), Place{file, read + start, line.size()});
    }
    bytes.erase(0, start);
    read += start;
    if (more.size() < kPart) return;
  }
}

bool WorkStore::contains(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  return places_.contains(key);
}

std::optional<WorkResult> WorkStore::find(const std::string& key) const {
  Place place;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    place = found->second;
  }
  const auto fields = parse_work_line(read_part(place.file, place.offset, place.size_bytes));
  if (!fields || fields->size() != kFieldCount) return std::nullopt;  // changed since
  WorkResult result{.value = fields->at(kValue), .failure = fields->at(kFailure)};
  result.wall_time = std::strtod(fields->at(kWallTime).c_str(), nullptr);
  return result;
}

std::vector<const WorkItem*> WorkStore::find_missing(const std::vector<WorkItem>& items) const {
  std::vector<const WorkItem*> missing;
  std::unordered_set<std::string_view> seen;
  for (const WorkItem& item : items) {
    if (!contains(item.key) && seen.insert(item.key).second) missing.push_back(&item);
  }
  return missing;
}

void WorkStore::open_own_file() {
  own_file_ = folder_ + "/" + writer_ + writer_name() + kEnding;
  descriptor_ = ::open(own_file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_store(std::exchange(own_file_, {}), "cannot be created", errno);
}

void WorkStore::store(const std::string& key, const WorkResult& result) {
  const std::scoped_lock lock(mutex_);
  if (places_.contains(key)) return;
  if (descriptor_ < 0) open_own_file();
  const std::string line = format_work_line(
      {key, notation::format_exact(result.wall_time), result.failure, result.value});
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      // Half a line would damage the next result.
      if (::ftruncate(descriptor_, static_cast<off_t>(own_size_)) != 0) {
        ::close(std::exchange(descriptor_, -1));
      }
      fail_store(own_file_, "cannot be written", error);
    }
    written += static_cast<std::size_t>(count);
  }
  places_.try_emplace(key, Place{own_file_, own_size_, line.size() - 1});
  own_size_ += line.size();
  if (now_s() - synchronized_ < kSynchronizationInterval) return;
  if (::fdatasync(descriptor_) != 0) fail_store(own_file_, "cannot be written", errno);
  synchronized_ = now_s();
}

}  // namespace service
