#include "service/server/jobs/job_files.hpp"

#include <google/protobuf/util/json_util.h>

#include <filesystem>

#include "proto/text/printable.hpp"
#include "proto/text/renamed_fields.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"

namespace service {
namespace {

using proto::Error;
using proto::ErrorCode;
using proto::Status;

proto::Result<std::string> read_checked_file(const std::string& path) {
  if (const Status whole = check_checksum(path); !whole.ok()) return whole.error();
  return read_small_file(path, kResultSizeMax);
}

Status load_json(const std::string& path, google::protobuf::Message& message) {
  const auto json = read_checked_file(path);
  if (!json.ok()) return json.error();
  const auto parsed = google::protobuf::util::JsonStringToMessage(json.value(), &message);
  if (parsed.ok()) return proto::success();
  const std::string renamed =
      proto::find_renamed_json_field(path, json.value(), *message.GetDescriptor());
  return Error{ErrorCode::kDamaged, renamed.empty() ? path + ": does not parse: " +
                                                          parsed.ToString() + "; " +
                                                          describe_damage_remedy(path)
                                                    : renamed};
}

}  // namespace

Status load_job_result(const std::string& folder, rigcal::v1::JobResult& result) {
  if (Status loaded = load_json(folder + "/result.json", *result.mutable_result()); !loaded.ok()) {
    return loaded;
  }
  const std::string validation = folder + "/cross_validation.json";
  if (Status whole = check_checksum(validation); !whole.ok()) return whole;  // it may be missing
  std::error_code ignored;
  if (std::filesystem::exists(validation, ignored)) {
    Status loaded = load_json(validation, *result.mutable_cross_validation());
    if (!loaded.ok()) return loaded;
  }
  const auto table = read_checked_file(folder + "/table.txt");
  if (!table.ok()) return table.error();
  result.set_table(proto::to_utf8(table.value()));
  return proto::success();
}

Status check_job_files(const std::string& folder) {
  for (const char* const report : {"/report.html", "/cross_validation.html"}) {
    if (Status whole = check_checksum(folder + report); !whole.ok()) return whole;
  }
  rigcal::v1::JobResult result;
  return load_job_result(folder, result);
}

bool is_content_lost(const Error& error) {
  return error.code == ErrorCode::kDamaged || error.code == ErrorCode::kNotFound;
}

}  // namespace service
