#include "tests/firmware_iface/memory_transport.hpp"

#include <algorithm>
#include <utility>

namespace firmware_iface {

MemoryTransport::Pair MemoryTransport::make_pair(TimeSource& time, const LineSettings& a_to_b,
                                                 const LineSettings& b_to_a) {
  const auto line = std::make_shared<Line>(a_to_b, b_to_a);
  Pair pair;
  pair.a.reset(new MemoryTransport(time, line, line->to_b, line->to_a, b_to_a.baud_rate));
  pair.b.reset(new MemoryTransport(time, line, line->to_a, line->to_b, a_to_b.baud_rate));
  return pair;
}

MemoryTransport::MemoryTransport(TimeSource& time, std::shared_ptr<Line> line, ByteChannel& out,
                                 ByteChannel& in, int baud_rate)
    : time_(&time), line_(std::move(line)), out_(&out), in_(&in) {
  report_.description = "line in memory";
  if (baud_rate > 0) report_.baud_rate = baud_rate;
}

IoResult MemoryTransport::read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  for (;;) {
    const std::size_t size_bytes = in_->pop(buffer, time_->now());
    if (size_bytes > 0) return {IoStatus::kOk, size_bytes};
    if (!line_->open) return {IoStatus::kClosed, 0};
    if (time_->now() >= deadline) return {IoStatus::kTimeout, 0};
    time_->sleep_until(std::min(deadline, in_->next_arrival().value_or(deadline)));
  }
}

IoResult MemoryTransport::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!line_->open) return {IoStatus::kClosed, 0};
  const std::uint64_t overflowed = out_->counters().bytes_overflowed;
  out_->push(bytes, time_->now());
  const bool all = out_->counters().bytes_overflowed == overflowed;
  return {all ? IoStatus::kOk : IoStatus::kTimeout, all ? bytes.size() : 0};
}

}  // namespace firmware_iface
