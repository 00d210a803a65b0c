#include "service/server/storage/record_file.hpp"

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <filesystem>

#include "service/server/storage/durable_file.hpp"

namespace service {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;

proto::Status save_record(const std::string& path, const google::protobuf::Message& record) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(record, &text);
  return write_durably(path, text);
}

proto::Status create_record_folder(const std::string& folder, const std::string& name,
                                   const google::protobuf::Message& record) {
  const fs::path target(folder);
  const std::string unfinished =
      (target.parent_path() / (".new-" + target.filename().string())).string();
  std::error_code error;
  fs::remove_all(unfinished, error);
  if (!fs::create_directory(unfinished, error)) {
    const bool full = error == std::errc::no_space_on_device;
    return Error{full ? ErrorCode::kDiskFull : ErrorCode::kInputOutput,
                 unfinished + ": cannot create: " + error.message()};
  }
  if (proto::Status saved = save_record(unfinished + '/' + name, record); !saved.ok()) {
    fs::remove_all(unfinished, error);
    return saved;
  }
  fs::rename(unfinished, folder, error);
  if (error) return Error{ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(target.parent_path().string());
}

proto::Status load_record(const std::string& path, google::protobuf::Message& record) {
  constexpr std::uint64_t kSizeMax = 8u << 20;
  const auto text = read_small_file(path, kSizeMax);
  if (!text.ok()) return text.error();
  if (!google::protobuf::TextFormat::ParseFromString(text.value(), &record)) {
    return Error{ErrorCode::kDamaged, path + ": does not parse"};
  }
  return proto::success();
}

}  // namespace service
