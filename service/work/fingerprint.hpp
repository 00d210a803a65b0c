#pragma once

#include <Eigen/Core>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// 64-bit hash (FNV-1a) of a sequence of values, equal on all machines of the same byte order.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
    return add(static_cast<std::uint64_t>(text.size()));
  }
  Fingerprint& add(double value) { return add(std::bit_cast<std::uint64_t>(value)); }
  Fingerprint& add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(value >> shift));
    return *this;
  }
  Fingerprint& add(const Eigen::MatrixXd& matrix) {
    for (const double value : matrix.reshaped()) add(value);
    return add(static_cast<std::uint64_t>(matrix.rows()));
  }

  std::uint64_t value() const { return hash_; }
  std::string hex() const;

 private:
  void add_byte(std::uint8_t byte) {
    hash_ ^= byte;
    hash_ *= 0x100000001b3ULL;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace service
