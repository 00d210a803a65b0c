#include "proto/framing/frame.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "proto/check/number_check.hpp"
#include "proto/framing/element_count.hpp"

namespace proto {
namespace {

const FrameLimit* find_limit(std::span<const FrameLimit> limits, std::uint32_t type) {
  const auto found = std::find_if(limits.begin(), limits.end(),
                                  [&](const FrameLimit& limit) { return limit.type == type; });
  return found == limits.end() ? nullptr : &*found;
}

std::uint32_t load_u32(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// Number of the only field that is set; 0 if none or several are set.
std::uint32_t only_field(const google::protobuf::Message& envelope) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  envelope.GetReflection()->ListFields(envelope, &fields);
  return fields.size() == 1 ? static_cast<std::uint32_t>(fields[0]->number()) : 0;
}

std::string describe(std::uint32_t type) { return "frame of type " + std::to_string(type); }

}  // namespace

FrameDecoder::FrameDecoder(std::vector<FrameLimit> limits) : limits_(std::move(limits)) {}

Status FrameDecoder::fail(ErrorCode code, std::string detail) {
  failed_ = true;
  frame_ = {};
  return Error{code, std::move(detail)};
}

// Called once the prefix contains the length and a complete tag.
Status FrameDecoder::begin_payload() {
  std::uint64_t tag = 0;
  for (std::size_t k = kLengthSize; k < prefix_size_; ++k) {
    tag |= static_cast<std::uint64_t>(prefix_[k] & 0x7f) << (7 * (k - kLengthSize));
  }
  constexpr std::uint64_t kLengthDelimited = 2;  // wire type of a message field
  if ((tag & 7) != kLengthDelimited || tag > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kDamaged, "frame does not start with a message field");
  }
  const auto type = static_cast<std::uint32_t>(tag >> 3);
  const FrameLimit* limit = find_limit(limits_, type);
  if (limit == nullptr) return fail(ErrorCode::kDamaged, describe(type) + " is unknown");
  if (payload_size_ > limit->size_bytes_max) {
    return fail(ErrorCode::kTooLarge, describe(type) + " has " + std::to_string(payload_size_) +
                                          " bytes, more than the allowed " +
                                          std::to_string(limit->size_bytes_max));
  }
  // The buffer grows with the received data, so that a header alone cannot claim the whole limit.
  frame_ = {type, std::string(reinterpret_cast<const char*>(prefix_ + kLengthSize),
                              prefix_size_ - kLengthSize)};
  in_payload_ = true;
  return success();
}

Status FrameDecoder::feed(std::span<const std::uint8_t> bytes, std::vector<Frame>& frames) {
  if (failed_) return Error{ErrorCode::kClosed, "the stream was damaged earlier"};
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (!in_payload_) {
      prefix_[prefix_size_++] = bytes[at++];
      if (prefix_size_ < kLengthSize) continue;
      if (prefix_size_ == kLengthSize) {
        payload_size_ = load_u32(prefix_);
        if (payload_size_ < 2) return fail(ErrorCode::kDamaged, "frame without a message");
        continue;
      }
      const bool tag_ends = (prefix_[prefix_size_ - 1] & 0x80) == 0;
      const std::size_t tag_size = prefix_size_ - kLengthSize;
      if (!tag_ends && (tag_size == kTagSizeMax || tag_size == payload_size_)) {
        return fail(ErrorCode::kDamaged, "frame does not start with a field");
      }
      if (!tag_ends) continue;
      if (Status begun = begin_payload(); !begun.ok()) return begun;
    }
    const std::size_t count = std::min(payload_size_ - frame_.payload.size(), bytes.size() - at);
    frame_.payload.append(reinterpret_cast<const char*>(bytes.data() + at), count);
    at += count;
    if (frame_.payload.size() == payload_size_) {
      frames.push_back(std::exchange(frame_, {}));
      in_payload_ = false;
      prefix_size_ = 0;
    }
  }
  return success();
}

Status append_frame(const google::protobuf::Message& envelope, std::span<const FrameLimit> limits,
                    std::string& out) {
  const std::uint32_t type = only_field(envelope);
  const FrameLimit* limit = find_limit(limits, type);
  assert(limit != nullptr);  // exactly one field is set, and it belongs to the protocol
  const std::size_t size = envelope.ByteSizeLong();
  if (size > std::min<std::size_t>(limit->size_bytes_max, std::numeric_limits<int>::max())) {
    return Error{ErrorCode::kTooLarge, describe(type) + " would have " + std::to_string(size) +
                                           " bytes, more than the allowed " +
                                           std::to_string(limit->size_bytes_max)};
  }
  const auto length = static_cast<std::uint32_t>(size);
  for (unsigned k = 0; k < 4; ++k) out.push_back(static_cast<char>(length >> (8 * k) & 0xff));
  const bool serialized = envelope.AppendToString(&out);
  assert(serialized);
  static_cast<void>(serialized);
  return success();
}

Status parse_frame(const Frame& frame, std::span<const FrameLimit> limits,
                   google::protobuf::Message& envelope) {
  const FrameLimit* limit = find_limit(limits, frame.type);
  assert(limit != nullptr);  // the decoder accepted this type
  const auto count =
      count_elements(*envelope.GetDescriptor(), frame.payload, limit->element_count_max);
  if (!count) return Error{ErrorCode::kDamaged, describe(frame.type) + " is not well-formed"};
  if (*count > limit->element_count_max) {
    return Error{ErrorCode::kTooLarge, describe(frame.type) + " holds more than " +
                                           std::to_string(limit->element_count_max) + " elements"};
  }
  if (!envelope.ParseFromString(frame.payload) || only_field(envelope) != frame.type) {
    return Error{ErrorCode::kDamaged, describe(frame.type) + " does not parse as one"};
  }
  if (auto fault = find_number_error(envelope)) {
    return Error{ErrorCode::kDamaged, std::move(fault->sentence)};
  }
  return success();
}

}  // namespace proto
