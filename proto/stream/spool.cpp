#include "proto/stream/spool.hpp"

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/stream/service_limits.hpp"

namespace proto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "RIGSPL1\n";
constexpr std::size_t kRecordHeaderSize = 16;
constexpr std::string_view kExtension = ".spool";
constexpr std::size_t kNameDigits = 20;  // a u64

Error file_error(const std::string& path, const char* doing, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  return {full ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
          path + ": " + doing + ": " + std::strerror(error_number)};
}

std::uint32_t record_crc(std::uint64_t sequence, std::string_view payload) {
  Bytes number;
  put(number, sequence);
  return crc32(as_bytes(payload), crc32(number));
}

Bytes make_record(std::uint64_t sequence, std::string_view payload, std::uint32_t crc) {
  Bytes record;
  record.reserve(kRecordHeaderSize + payload.size());
  put(record, static_cast<std::uint32_t>(payload.size()));
  put(record, crc);
  put(record, sequence);
  append_bytes(record, as_bytes(payload));
  return record;
}

// Number of the first batch of a segment, from its file's name; 0 if the file is not a segment.
std::uint64_t parse_name(const fs::path& path) {
  const std::string name = path.filename().string();
  std::uint64_t first = 0;
  if (name.size() != kNameDigits + kExtension.size() || !name.ends_with(kExtension)) return 0;
  const char* end = name.data() + kNameDigits;
  const auto parsed = std::from_chars(name.data(), end, first);
  return parsed.ec == std::errc() && parsed.ptr == end ? first : 0;
}

// Makes a file durable and forces later reads to the disk: memory differs after a failed fsync.
Status settle(int descriptor, const std::string& path) {
  if (::fdatasync(descriptor) != 0) return file_error(path, "cannot sync to disk", errno);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  return success();
}

Status sync_folder(const std::string& folder) {
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return file_error(folder, "cannot be opened", errno);
  const int result = ::fsync(directory);
  const int error_number = errno;
  ::close(directory);
  return result == 0 ? success() : Status(file_error(folder, "cannot sync to disk", error_number));
}

}  // namespace

// One file: its descriptor and the offsets of its batches.
struct Spool::SpoolFile {
  SpoolFile(int descriptor_given, std::string path_given, std::uint64_t first)
      : descriptor(descriptor_given), path(std::move(path_given)), first_sequence(first) {}
  ~SpoolFile() { ::close(descriptor); }
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  std::uint64_t end_sequence() const { return first_sequence + places.size(); }

  // Writes all bytes at the end. The next record replaces one that was torn by a failed write.
  Status append(std::span<const std::uint8_t> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(size_bytes + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return file_error(path, "cannot write", errno);
      done += static_cast<std::size_t>(count);
    }
    size_bytes += bytes.size();
    return success();
  }

  int descriptor;
  std::string path;
  std::uint64_t first_sequence;
  std::uint64_t size_bytes = 0;
  std::vector<BatchLocation> places;
};

Spool::Spool(std::string folder, SpoolLimits limits)
    : folder_(std::move(folder)), limits_(limits) {}

std::string Spool::spool_file_path(std::uint64_t first_sequence) const {
  std::string digits = std::to_string(first_sequence);
  digits.insert(0, kNameDigits - digits.size(), '0');
  return (fs::path(folder_) / digits.append(kExtension)).string();
}

Result<Spool> Spool::open(const std::string& folder, SpoolLimits limits) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{ErrorCode::kInputOutput, folder + ": " + error.message()};
  Spool spool(folder, limits);
  if (Status loaded = spool.load(); !loaded.ok()) return loaded.error();
  return spool;
}

Status Spool::load() {
  std::vector<std::uint64_t> firsts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (const std::uint64_t first = parse_name(entry.path()); first != 0) firsts.push_back(first);
  }
  if (error) return Error{ErrorCode::kInputOutput, folder_ + ": " + error.message()};
  std::sort(firsts.begin(), firsts.end());
  if (!firsts.empty()) acknowledged_through_ = firsts.front() - 1;
  for (std::size_t k = 0; k < firsts.size(); ++k) {
    if (Status loaded = load_spool_file(firsts[k], k + 1 == firsts.size()); !loaded.ok()) {
      return loaded;
    }
    if (k + 1 == firsts.size()) break;
    // The numbers between the last valid record and the next file are in use.
    SpoolFile& segment = *segments_.back();
    const std::uint64_t batches_max = limits_.segment_size_bytes / kRecordHeaderSize + 1;
    if (segment.end_sequence() > firsts[k + 1] || firsts[k + 1] - firsts[k] > batches_max) {
      return Error{ErrorCode::kDamaged,
                   fmt::format("{}: the batch numbers in this spool file do not match the number "
                               "of the next file",
                               segment.path)};
    }
    damaged_count_ += firsts[k + 1] - segment.end_sequence();
    segment.places.resize(firsts[k + 1] - segment.first_sequence);
  }
  if (segments_.empty()) return start_spool_file();
  end_ = durable_end_ = segments_.back()->end_sequence();
  return success();
}

Status Spool::load_spool_file(std::uint64_t first_sequence, bool last) {
  const std::string path = spool_file_path(first_sequence);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return file_error(path, "cannot be opened", errno);
  segments_.push_back(std::make_shared<SpoolFile>(descriptor, path, first_sequence));
  SpoolFile& segment = *segments_.back();
  // Earlier files became durable when this one was created.
  if (last) {
    if (Status settled = settle(descriptor, path); !settled.ok()) return settled;
  }
  auto input = open_input_file(path, SymlinkPolicy::kRefuse);
  if (!input.ok()) return input.error();
  if (input.value()->size_bytes() > limits_.segment_size_bytes + 2 * kBatchSizeMax) {
    return Error{ErrorCode::kDamaged, path + ": is larger than a spool file can be"};
  }
  Bytes bytes(static_cast<std::size_t>(input.value()->size_bytes()));
  if (Status read = input.value()->read(0, bytes); !read.ok()) return read;

  ByteCursor cursor(bytes);
  std::uint64_t intact_end = 0;
  if (as_text(cursor.read_bytes(kMagic.size())) == kMagic) intact_end = kMagic.size();
  while (intact_end > 0 && cursor.remaining_size() > 0) {
    const auto size = cursor.take<std::uint32_t>();
    const auto crc = cursor.take<std::uint32_t>();
    const auto protected_part = cursor.read_bytes(std::uint64_t{size} + 8);
    if (!cursor.ok() || crc32(protected_part) != crc ||
        ByteCursor(protected_part).take<std::uint64_t>() != segment.end_sequence()) {
      break;
    }
    segment.places.push_back({intact_end + kRecordHeaderSize, size, crc});
    intact_end += kRecordHeaderSize + size;
  }
  segment.size_bytes = intact_end;
  size_bytes_ += intact_end;
  if (!last) return success();
  if (::ftruncate(descriptor, static_cast<off_t>(intact_end)) != 0) {
    return file_error(path, "cannot truncate", errno);
  }
  return intact_end == 0 ? segment.append(as_bytes(kMagic)) : success();
}

Status Spool::start_spool_file() {
  const std::string path = spool_file_path(end_);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return file_error(path, "cannot create", errno);
  auto segment = std::make_shared<SpoolFile>(descriptor, path, end_);
  Status started = segment->append(as_bytes(kMagic));
  if (started.ok()) started = sync_folder(folder_);
  if (!started.ok()) {
    ::unlink(path.c_str());
    return started;
  }
  size_bytes_ += segment->size_bytes;
  segments_.push_back(std::move(segment));
  return success();
}

Result<std::uint64_t> Spool::append(std::string_view payload) {
  assert(payload.size() <= kBatchSizeMax);
  if (sync_error_) return *sync_error_;
  const std::uint32_t crc = record_crc(end_, payload);
  const Bytes record = make_record(end_, payload, crc);
  if (size_bytes_ + record.size() > limits_.size_bytes_max) {
    return Error{ErrorCode::kDiskFull, folder_ + ": the spool has reached its limit of " +
                                           std::to_string(limits_.size_bytes_max) + " bytes"};
  }
  const SpoolFile& last = *segments_.back();
  if (last.size_bytes >= limits_.segment_size_bytes && !last.places.empty()) {
    // sync() handles only the newest file, so make the old one durable now.
    if (Status synced = sync(); !synced.ok()) return synced.error();
    if (Status started = start_spool_file(); !started.ok()) return started.error();
  }
  SpoolFile& segment = *segments_.back();
  const std::uint64_t offset = segment.size_bytes + kRecordHeaderSize;
  if (Status appended = segment.append(record); !appended.ok()) return appended.error();
  segment.places.push_back({offset, static_cast<std::uint32_t>(payload.size()), crc});
  size_bytes_ += record.size();
  return end_++;
}

Status Spool::sync() {
  if (sync_error_) return *sync_error_;
  if (durable_end_ == end_) return success();
  if (::fdatasync(segments_.back()->descriptor) != 0) {
    sync_error_ = file_error(segments_.back()->path, "cannot sync to disk", errno);
    return *sync_error_;
  }
  if (Status there = check_not_removed(segments_.back()->path); !there.ok()) {
    sync_error_ = there.error();
    return there;
  }
  durable_end_ = end_;
  return success();
}

Result<std::string> Spool::read(std::uint64_t sequence) {
  assert(sequence > acknowledged_through_ && sequence < end_);
  const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const auto& candidate) {
    return sequence < candidate->end_sequence();
  });
  assert(segment != segments_.end());
  const BatchLocation place = (*segment)->places[sequence - (*segment)->first_sequence];
  std::string payload(place.offset == 0 ? 0 : place.size, '\0');
  std::size_t done = 0;
  while (done < payload.size()) {
    const ssize_t count = ::pread((*segment)->descriptor, payload.data() + done,
                                  payload.size() - done, static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_error((*segment)->path, "cannot read", count == 0 ? EIO : errno);
    done += static_cast<std::size_t>(count);
  }
  // Return nothing rather than another batch.
  if (record_crc(sequence, payload) != place.crc) return std::string();
  return payload;
}

Status Spool::acknowledge(std::uint64_t through) {
  assert(through < end_);
  acknowledged_through_ = std::max(acknowledged_through_, through);
  // Keep the last file, because its name contains the numbering.
  while (segments_.size() > 1 && segments_.front()->end_sequence() <= acknowledged_through_ + 1) {
    if (::unlink(segments_.front()->path.c_str()) != 0) {
      return file_error(segments_.front()->path, "cannot delete", errno);
    }
    size_bytes_ -= segments_.front()->size_bytes;
    segments_.pop_front();
  }
  return success();
}

}  // namespace proto
