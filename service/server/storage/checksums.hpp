#pragma once

#include <map>
#include <string>

#include "proto/result.hpp"

namespace service {

/// SHA-256 hashes of the files in a folder, in hexadecimal, by file name.
using Checksums = std::map<std::string, std::string>;

/// Returns the SHA-256 of a file in hexadecimal. Does not follow a symbolic link.
proto::Result<std::string> compute_checksum(const std::string& path);

/// Writes checksums durably to the file SHA256SUMS of a folder, which "sha256sum --check" can read.
proto::Status write_checksums(const std::string& folder, const Checksums& checksums);

/// Compares a file with its checksum in the file SHA256SUMS of its folder, and logs a difference.
/// Accepts files in folders without SHA256SUMS, which earlier releases stored.
/// @return error kDamaged, with the remedy, if the file is missing or differs
proto::Status check_checksum(const std::string& path);

/// Describes what a user can do about a damaged file, with the command that deletes its session or
/// job.
/// @param path  path of the file, DATA/sessions/ID/FILE or DATA/jobs/ID/FILE
std::string describe_damage_remedy(const std::string& path);

}  // namespace service
