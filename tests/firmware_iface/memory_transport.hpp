#pragma once

#include <memory>

#include "firmware_iface/transport/byte_channel.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface {

/// One end of a line that exists in memory only, with seeded random faults and virtual time.
class MemoryTransport final : public Transport {
 public:
  /// Two ends of one line. `time` must outlive both.
  struct Pair {
    std::unique_ptr<MemoryTransport> a;
    std::unique_ptr<MemoryTransport> b;
  };
  static Pair make_pair(TimeSource& time, const LineSettings& a_to_b = {},
                        const LineSettings& b_to_a = {});

  Nanoseconds now() const noexcept override { return time_->now(); }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override;
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { line_->open = false; }
  const TransportReport& report() const noexcept override { return report_; }

 private:
  struct Line {
    Line(const LineSettings& a_to_b, const LineSettings& b_to_a) : to_b(a_to_b), to_a(b_to_a) {}
    ByteChannel to_b;
    ByteChannel to_a;
    bool open = true;
  };

  MemoryTransport(TimeSource& time, std::shared_ptr<Line> line, ByteChannel& out, ByteChannel& in,
                  int baud_rate);

  TimeSource* time_;
  std::shared_ptr<Line> line_;
  ByteChannel* out_;
  ByteChannel* in_;
  TransportReport report_;
};

}  // namespace firmware_iface
