#include "proto/framing/element_count.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cstdint>

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

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

std::optional<std::size_t> count_elements(const Descriptor& type, std::string_view bytes,
                                          std::size_t count_max) {
  ElementCounter counter(count_max);
  if (!counter.walk(type, bytes, 1)) return std::nullopt;
  return std::min(counter.count(), count_max + 1);
}

}  // namespace proto
