#pragma once

#include <cassert>
#include <cstdint>

namespace firmware_iface {

/// The value closest to `reference` whose low `bits` bits are `low`: rebuilds a counter that was
/// sent with fewer bits, given where it must be. 1 <= bits <= 32.
inline std::int64_t extend_counter(std::int64_t reference, std::uint32_t low, int bits) noexcept {
  assert(bits >= 1 && bits <= 32);
  const std::int64_t modulus = std::int64_t{1} << bits;
  std::int64_t delta = (static_cast<std::int64_t>(low) - reference) & (modulus - 1);
  if (delta > modulus / 2) delta -= modulus;
  return reference + delta;
}

/// Follows one encoder's count past the wrap of the `bits` bits that are sent. Correct while the
/// encoder turns less than half that range between two valid samples.
class EncoderUnwrap {
 public:
  EncoderUnwrap() = default;
  explicit EncoderUnwrap(int bits) noexcept : bits_(bits) {}

  std::int64_t update(std::int32_t counts_low) noexcept {
    const auto low = static_cast<std::uint32_t>(counts_low);
    // The first count stands as sent, sign included.
    counts_ = started_ ? extend_counter(counts_, low, bits_) : std::int64_t{counts_low};
    started_ = true;
    return counts_;
  }

  /// The last valid count, 0 before the first.
  std::int64_t counts() const noexcept { return counts_; }

 private:
  int bits_ = 32;
  bool started_ = false;
  std::int64_t counts_ = 0;
};

}  // namespace firmware_iface
