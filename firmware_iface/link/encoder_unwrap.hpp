#pragma once

#include <cassert>
#include <cstdint>

namespace firmware_iface {

/// Returns the value closest to `reference` whose low `bits` bits are `low`. Reconstructs a counter
/// that was sent with fewer bits. 1 <= bits <= 32.
inline std::int64_t extend_counter(std::int64_t reference, std::uint32_t low, int bits) noexcept {
  assert(bits >= 1 && bits <= 32);
  const std::int64_t modulus = std::int64_t{1} << bits;
  std::int64_t delta = (static_cast<std::int64_t>(low) - reference) & (modulus - 1);
  if (delta > modulus / 2) delta -= modulus;
  return reference + delta;
}

/// Unwraps one encoder's count beyond its modulus. Correct if the encoder turns less than half the
/// modulus between two valid samples.
class EncoderUnwrap {
 public:
  EncoderUnwrap() = default;

  /// @param modulus  counts run from 0 to modulus − 1; 0: signed, with all `bits` bits
  /// @param bits     number of transmitted bits of a count; 2^bits is at least the modulus
  EncoderUnwrap(std::uint32_t modulus, int bits) noexcept
      : is_signed_(modulus == 0),
        mask_((std::int64_t{1} << bits) - 1),
        modulus_(is_signed_ ? mask_ + 1 : std::int64_t{modulus}) {}

  /// Adds a count as transmitted, sign extended. Returns false, with counts() unchanged, if it is
  /// not below the modulus.
  bool update(std::int32_t counts_sent) noexcept {
    const std::int64_t low = counts_sent & mask_;
    if (low >= modulus_) return false;
    // The first count is used as sent, including its sign.
    const std::int64_t first = is_signed_ ? std::int64_t{counts_sent} : low;
    counts_ = started_ ? counts_ + nearest_change(low) : first;
    started_ = true;
    return true;
  }

  /// Returns the last valid count, 0 before the first.
  std::int64_t counts() const noexcept { return counts_; }

 private:
  std::int64_t nearest_change(std::int64_t low) const noexcept {
    std::int64_t change = (low - counts_) % modulus_;
    if (change < 0) change += modulus_;
    return change > modulus_ / 2 ? change - modulus_ : change;
  }

  bool is_signed_ = true;
  std::int64_t mask_ = 0xFFFFFFFF;
  std::int64_t modulus_ = std::int64_t{1} << 32;
  bool started_ = false;
  std::int64_t counts_ = 0;
};

}  // namespace firmware_iface
