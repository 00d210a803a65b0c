#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/result.hpp"

namespace google::protobuf {
class Message;
}

namespace proto {

/// Length-prefixed messages on a byte stream.
///
///   offset  size  field
///        0     4  length of the payload in bytes, little-endian
///        4     n  payload: one protobuf envelope with exactly one field set, the member of its
///        oneof
///
/// The number of that field is the frame's type. It is the first thing in the payload, so a frame
/// is judged against the cap of its own type before its payload is stored.

/// What one type of frame may be at most.
struct FrameLimit {
  std::uint32_t type;          ///< number of the field in the envelope's oneof
  std::size_t size_bytes_max;  ///< payload [byte]
  std::size_t
      element_count_max;  ///< entries of repeated and message fields, at every depth together
};

/// One complete frame: its type and the serialized envelope.
struct Frame {
  std::uint32_t type;
  std::string payload;
};

/// Cuts a stream into frames, however the stream was cut into reads. Holds at most one frame, and
/// of it never more than was received.
///
/// A frame that breaks a limit or has no known type cannot be skipped safely: whoever sent it does
/// not speak this protocol. The decoder then fails for good and the connection is to be closed.
class FrameDecoder {
 public:
  /// @param limits one entry per type that may arrive; any other type fails
  explicit FrameDecoder(std::vector<FrameLimit> limits);

  /// Consumes all of `bytes` and appends the frames they complete to `frames`. Frames completed
  /// before a failure are delivered.
  Status feed(std::span<const std::uint8_t> bytes, std::vector<Frame>& frames);

  /// True between frames: the stream may end here without loss.
  bool idle() const { return !failed_ && prefix_size_ == 0; }

  /// What it holds of a frame that is not complete [byte].
  std::size_t held_bytes() const { return frame_.payload.size(); }

 private:
  static constexpr std::size_t kLengthSize = 4;
  static constexpr std::size_t kTagSizeMax = 5;  // a u32 as varint

  Status begin_payload();
  Status fail(ErrorCode code, std::string detail);

  std::vector<FrameLimit> limits_;
  std::uint8_t prefix_[kLengthSize + kTagSizeMax] = {};  // length, then the first tag
  std::size_t prefix_size_ = 0;
  std::size_t payload_size_ = 0;
  bool in_payload_ = false;
  bool failed_ = false;
  Frame frame_{};
};

/// Serializes an envelope behind its length and appends it to `out`.
/// @return kTooLarge, with `out` unchanged, if it breaks the limit of its type
Status append_frame(const google::protobuf::Message& envelope, std::span<const FrameLimit> limits,
                    std::string& out);

/// Parses a frame's payload. Before anything is allocated, the payload's elements are counted: an
/// empty submessage takes two bytes on the wire and hundreds in memory.
/// @return kDamaged if it does not parse, is not of the type its first tag claims or holds a number
///         that its field does not allow (proto/check), kTooLarge if it holds more elements than
///         `limits` allows
Status parse_frame(const Frame& frame, std::span<const FrameLimit> limits,
                   google::protobuf::Message& envelope);

}  // namespace proto
