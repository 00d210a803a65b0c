#include "service/server/storage/checksums.hpp"

#include <filesystem>
#include <sstream>

#include "proto/stream/content_hash.hpp"
#include "proto/text/printable.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::Result;
using proto::Status;

constexpr const char* kChecksumFile = "SHA256SUMS";

// Each line has a checksum, two blanks and a name, as sha256sum writes it.
Result<Checksums> read_checksums(const std::string& folder) {
  constexpr std::uint64_t kSizeMax = 64u << 10;
  const auto text = read_small_file(folder + '/' + kChecksumFile, kSizeMax);
  if (!text.ok()) return text.error();
  Checksums checksums;
  std::istringstream lines(text.value());
  for (std::string checksum, name; lines >> checksum >> name;) checksums[name] = checksum;
  return checksums;
}

Error report_damage(const std::string& path, const std::string& what) {
  log_event(LogLevel::kError, "file_damaged", {{"path", path}, {"what", what}});
  return {ErrorCode::kDamaged, path + ": is damaged on the disk of the service: " + what + "; " +
                                   describe_damage_remedy(path)};
}

}  // namespace

std::string describe_damage_remedy(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string id = proto::to_utf8(folder.filename().string());
  if (folder.parent_path().filename() == "jobs") {
    return "restore it from a backup, submit the same calibration again, "
           "or delete the job with rigcal jobs " +
           id + " --delete";
  }
  return "restore it from a backup, or delete the session with rigcal sessions " + id +
         " --delete and record or upload it again";
}

Result<std::string> compute_checksum(const std::string& path) {
  const auto file = proto::open_input_file(path, proto::SymlinkPolicy::kRefuse);
  if (!file.ok()) return file.error();
  proto::ContentHash content;
  if (Status read = content.add_file(*file.value()); !read.ok()) return read.error();
  return content.sha256();
}

Status write_checksums(const std::string& folder, const Checksums& checksums) {
  std::string text;
  for (const auto& [name, checksum] : checksums) text += checksum + "  " + name + '\n';
  return write_durably(folder + '/' + kChecksumFile, text);
}

Status check_checksum(const std::string& path) {
  const auto stored = read_checksums(fs::path(path).parent_path().string());
  if (!stored.ok() && stored.error().code == ErrorCode::kNotFound) return proto::success();
  if (!stored.ok()) return stored.error();
  const auto found = stored.value().find(fs::path(path).filename().string());
  const auto now = compute_checksum(path);
  const bool missing = !now.ok() && now.error().code == ErrorCode::kNotFound;
  if (!now.ok() && !missing) return now.error();
  if (found == stored.value().end()) {
    // A report that was never made is missing in both.
    return missing ? proto::success()
                   : Status(report_damage(path, std::string(kChecksumFile) + " does not list it"));
  }
  if (missing) return report_damage(path, "it is missing");
  if (now.value() == found->second) return proto::success();
  return report_damage(path, "its SHA-256 is " + now.value() + ", but " + kChecksumFile +
                                 " contains " + found->second);
}

}  // namespace service
