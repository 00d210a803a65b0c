#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <span>

#include "proto/recording/mcap/file.hpp"

namespace proto {

/// Input file whose content is bytes in memory. The bytes must outlive it.
class MemoryInputFile final : public InputFile {
 public:
  explicit MemoryInputFile(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t size_bytes() const override { return bytes_.size(); }

  Status read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    assert(offset <= bytes_.size() && out.size() <= bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return success();
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

inline std::unique_ptr<InputFile> view_as_input_file(std::span<const std::uint8_t> bytes) {
  return std::make_unique<MemoryInputFile>(bytes);
}

}  // namespace proto
