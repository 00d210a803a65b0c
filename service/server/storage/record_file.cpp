#include "service/server/storage/record_file.hpp"

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include "service/server/storage/durable_file.hpp"

namespace service {

proto::Status save_record(const std::string& path, const google::protobuf::Message& record) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(record, &text);
  return write_durably(path, text);
}

proto::Status load_record(const std::string& path, google::protobuf::Message& record) {
  constexpr std::uint64_t kSizeMax = 8u << 20;
  const auto text = read_small_file(path, kSizeMax);
  if (!text.ok()) return text.error();
  if (!google::protobuf::TextFormat::ParseFromString(text.value(), &record)) {
    return proto::Error{proto::ErrorCode::kDamaged, path + ": does not parse"};
  }
  return proto::success();
}

}  // namespace service
