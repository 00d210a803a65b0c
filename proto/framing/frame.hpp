#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/result.hpp"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace proto {

/// Format of frames: messages on a byte stream, each preceded by its length.
///
///   offset  size  field
///        0     4  length of the payload in bytes, little-endian
///        4     n  payload: a protobuf envelope with exactly one field of its oneof set
///
/// The number of that field is the frame's type. It comes first in the payload, so that the size
/// limit of the type applies before the payload is stored.

/// Limits of one type of frame.
struct FrameLimit {
  std::uint32_t type;             ///< number of the field in the envelope's oneof
  std::size_t size_bytes_max;     ///< payload [byte]
  std::size_t element_count_max;  ///< entries of repeated and message fields, at all depths
};

/// One complete frame: its type and the serialized envelope.
struct Frame {
  std::uint32_t type;
  std::string payload;
};

/// Splits a byte stream into frames. The bytes may arrive in parts of any size. Buffers the
/// received part of at most one incomplete frame.
///
/// A frame that exceeds a limit or has an unknown type cannot be skipped safely, because its sender
/// uses another protocol. The decoder then fails permanently, and the connection must be closed.
class FrameDecoder {
 public:
  /// @param limits one entry for each type that is accepted; other types fail
  explicit FrameDecoder(std::vector<FrameLimit> limits);

  /// Adds received bytes, and appends the frames that they complete to `frames`, including frames
  /// before a failure.
  Status feed(std::span<const std::uint8_t> bytes, std::vector<Frame>& frames);

  /// Returns whether the last received byte was the end of a frame, so that the stream can end
  /// here.
  bool idle() const { return !failed_ && prefix_size_ == 0; }

  /// Returns the size of the received part of an incomplete frame [byte].
  std::size_t incomplete_frame_size() const { return frame_.payload.size(); }

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

/// Appends an envelope to `out` as a frame: the length, then the serialized envelope.
/// @return kTooLarge, with `out` unchanged, if it exceeds the limit of its type
Status append_frame(const google::protobuf::Message& envelope, std::span<const FrameLimit> limits,
                    std::string& out);

/// Parses the payload of a frame. Its elements are counted before parsing, because an empty
/// submessage takes two bytes in the payload and hundreds in memory.
/// @return kDamaged if it does not parse, its type differs from its first tag, or it contains a
///     number outside its field's range (proto/check); kTooLarge if it has more elements than
///     `limits` allows
Status parse_frame(const Frame& frame, std::span<const FrameLimit> limits,
                   google::protobuf::Message& envelope);

/// Counts the elements that parsing `bytes` as `type` would allocate, without allocating them:
/// message fields and entries of repeated fields (also packed ones), at all depths.
///
/// @param count_max  above this number, counting stops and the result is count_max + 1
/// @return empty if the bytes are not well-formed or nest deeper than 16 levels
std::optional<std::size_t> count_elements(const google::protobuf::Descriptor& type,
                                          std::string_view bytes, std::size_t count_max);

}  // namespace proto
