#include "proto/framing/frame.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/check/number_check.hpp"

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

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

constexpr int kDepthMax = 16;

// Protobuf's wire types. 3 and 4 (groups) do not exist in proto3 and are rejected.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned k = 0; k < 10 && k < bytes.size(); ++k) {
    const auto byte = static_cast<std::uint8_t>(bytes[k]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * k);
    if ((byte & 0x80) == 0) {
      bytes.remove_prefix(k + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> take(std::string_view& bytes, std::uint64_t size) {
  if (size > bytes.size()) return std::nullopt;
  const std::string_view taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return taken;
}

// The value of a field: its content if it is length-delimited, else empty.
std::optional<std::string_view> take_value(std::string_view& bytes, WireType wire_type) {
  switch (wire_type) {
    case WireType::kVarint:
      return take_varint(bytes) ? std::optional<std::string_view>("") : std::nullopt;
    case WireType::kFixed64:
      return take(bytes, 8);
    case WireType::kFixed32:
      return take(bytes, 4);
    case WireType::kBytes: {
      const auto size = take_varint(bytes);
      return size ? take(bytes, *size) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::size_t packed_count(const FieldDescriptor& field, std::string_view content) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return content.size() / 8;
    case FieldDescriptor::CPPTYPE_FLOAT:
      return content.size() / 4;
    default:
      break;
  }
  const auto type = field.type();
  if (type == FieldDescriptor::TYPE_FIXED64 || type == FieldDescriptor::TYPE_SFIXED64) {
    return content.size() / 8;
  }
  if (type == FieldDescriptor::TYPE_FIXED32 || type == FieldDescriptor::TYPE_SFIXED32) {
    return content.size() / 4;
  }
  // Each varint ends with the one byte that has its top bit clear.
  return static_cast<std::size_t>(
      std::count_if(content.begin(), content.end(), [](char byte) { return (byte & 0x80) == 0; }));
}

class ElementCounter {
 public:
  explicit ElementCounter(std::size_t count_max) : count_max_(count_max) {}

  bool walk(const Descriptor& type, std::string_view bytes, int depth) {
    if (depth > kDepthMax) return false;
    while (!bytes.empty() && count_ <= count_max_) {
      const auto tag = take_varint(bytes);
      if (!tag || (*tag >> 3) == 0 ||
          (*tag >> 3) > static_cast<std::uint64_t>(FieldDescriptor::kMaxNumber)) {
        return false;
      }
      const auto wire_type = static_cast<WireType>(*tag & 7);
      const auto content = take_value(bytes, wire_type);
      if (!content) return false;
      const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(*tag >> 3));
      // The parser keeps unknown fields, so they count too.
      if (field == nullptr) {
        ++count_;
      } else if (!count_field(*field, wire_type, *content, depth)) {
        return false;
      }
    }
    return true;
  }

  std::size_t count() const { return count_; }

 private:
  bool count_field(const FieldDescriptor& field, WireType wire_type, std::string_view content,
                   int depth) {
    const bool delimited = wire_type == WireType::kBytes;
    if (field.message_type() != nullptr) {
      ++count_;
      return !delimited || walk(*field.message_type(), content, depth + 1);
    }
    if (field.is_repeated()) {
      count_ += delimited && field.is_packable() ? packed_count(field, content) : 1;
    }
    return true;
  }

  std::size_t count_max_;
  std::size_t count_ = 0;
};

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
    return Error{ErrorCode::kDamaged,
                 describe(frame.type) +
                     " does not parse as one; it is damaged, or one of its texts is not UTF-8"};
  }
  if (auto fault = find_number_error(envelope)) {
    return Error{ErrorCode::kDamaged, std::move(fault->sentence)};
  }
  return success();
}

std::optional<std::size_t> count_elements(const Descriptor& type, std::string_view bytes,
                                          std::size_t count_max) {
  ElementCounter counter(count_max);
  if (!counter.walk(type, bytes, 1)) return std::nullopt;
  return std::min(counter.count(), count_max + 1);
}

}  // namespace proto
