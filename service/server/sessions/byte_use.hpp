#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace service {

/// Number of bytes that each client identity uses, and the total over all identities.
class ByteUsage {
 public:
  void add(const std::string& identity, std::uint64_t bytes) {
    if (bytes == 0) return;
    bytes_[identity] += bytes;
    total_ += bytes;
  }

  void remove(const std::string& identity, std::uint64_t bytes) {
    const auto found = bytes_.find(identity);
    if (found == bytes_.end()) return;
    const std::uint64_t gone = std::min(bytes, found->second);
    total_ -= gone;
    found->second -= gone;
    if (found->second == 0) bytes_.erase(found);
  }

  std::uint64_t of(const std::string& identity) const {
    const auto found = bytes_.find(identity);
    return found == bytes_.end() ? 0 : found->second;
  }
  std::uint64_t total() const { return total_; }

  /// Returns whether `identity` may use `bytes` more: the total stays within `limit`, and the
  /// identity's own use stays within `share`.
  bool has_room(const std::string& identity, std::uint64_t bytes, std::uint64_t limit,
                std::uint64_t share) const {
    return bytes <= limit && total_ <= limit - bytes && bytes <= share &&
           of(identity) <= share - bytes;
  }

 private:
  std::map<std::string, std::uint64_t> bytes_;
  std::uint64_t total_ = 0;
};

}  // namespace service
