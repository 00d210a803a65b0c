#include "proto/recording/joint_state.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace proto {
namespace {

constexpr std::size_t kEncapsulationSize = 4;
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

/// Reads primitives, each aligned to a multiple of its size. After a missing one, all are zero.
class CdrReader {
 public:
  CdrReader(std::span<const std::uint8_t> bytes, bool little_endian)
      : bytes_(bytes), swaps_(little_endian != (std::endian::native == std::endian::little)) {}

  bool ok() const { return ok_; }
  std::size_t remaining_size() const { return bytes_.size() - at_; }

  template <typename Number>
  Number take() {
    align(sizeof(Number));
    std::uint8_t raw[sizeof(Number)] = {};
    if (!ok_ || remaining_size() < sizeof(Number)) {
      ok_ = false;
      return Number{};
    }
    std::memcpy(raw, bytes_.data() + at_, sizeof(Number));
    at_ += sizeof(Number);
    if (swaps_) std::reverse(std::begin(raw), std::end(raw));
    Number number;
    std::memcpy(&number, raw, sizeof(Number));
    return number;
  }

  /// Reads a text with its length before it, which includes a zero byte at the end.
  std::string read_text() {
    const auto size = take<std::uint32_t>();
    if (!ok_ || size > remaining_size() || (size > 0 && bytes_[at_ + size - 1] != 0)) {
      ok_ = false;
      return {};
    }
    std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, size == 0 ? 0 : size - 1);
    at_ += size;
    return text;
  }

  /// Reads the size of the following sequence, whose elements have at least this many bytes.
  std::size_t take_count(std::size_t element_size) {
    const std::size_t count = take<std::uint32_t>();
    ok_ = ok_ && count <= kJointsMax && count <= remaining_size() / element_size;
    return ok_ ? count : 0;
  }

  std::vector<double> take_numbers() {
    std::vector<double> numbers(take_count(sizeof(double)));
    for (double& number : numbers) number = take<double>();
    return numbers;
  }

 private:
  void align(std::size_t size) {
    const std::size_t aligned = (at_ + size - 1) / size * size;
    if (aligned > bytes_.size()) {
      ok_ = false;
    } else {
      at_ = aligned;
    }
  }

  std::span<const std::uint8_t> bytes_;
  bool swaps_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<JointState> parse_joint_state(std::span<const std::uint8_t> bytes) {
  // The first two bytes give the encoding: 0 is plain CDR in big-endian order, 1 in little-endian.
  // The next two are options, which are ignored.
  if (bytes.size() < kEncapsulationSize || bytes[0] != 0 || bytes[1] > 1) return std::nullopt;
  CdrReader reader(bytes.subspan(kEncapsulationSize), bytes[1] == 1);
  JointState state;
  const auto seconds = reader.take<std::int32_t>();
  const auto nanoseconds = reader.take<std::uint32_t>();
  state.stamp_ns = seconds * kNanosecondsPerSecond + nanoseconds;
  reader.read_text();  // frame_id
  state.names.resize(reader.take_count(sizeof(std::uint32_t)));
  for (std::string& name : state.names) name = reader.read_text();
  state.positions = reader.take_numbers();
  state.velocities = reader.take_numbers();
  state.efforts = reader.take_numbers();
  constexpr std::size_t kPaddingMax = 7;  // padding that a writer may append
  const auto fits = [&](const std::vector<double>& values) {
    return values.empty() || values.size() == state.names.size();
  };
  if (!reader.ok() || reader.remaining_size() > kPaddingMax ||
      nanoseconds >= kNanosecondsPerSecond || !fits(state.positions) || !fits(state.velocities) ||
      !fits(state.efforts)) {
    return std::nullopt;
  }
  return state;
}

}  // namespace proto
