// Writes one frame of every request and reply of the service as seeds for its fuzzer: messages with
// every field set, at every depth; and conversations of a client and a rig.
//   service_message_seeds FOLDER

#include <google/protobuf/descriptor.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "proto/stream/service_limits.hpp"

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void fill(Message& message, int depth);

void fill_field(Message& message, const FieldDescriptor& field, int depth) {
  const auto* reflection = message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth == 0) return;
      fill(repeated ? *reflection->AddMessage(&message, &field)
                    : *reflection->MutableMessage(&message, &field),
           depth - 1);
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      if (repeated) return reflection->AddString(&message, &field, "arm,pendulum");
      return reflection->SetString(&message, &field, "arm,pendulum");
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (repeated) return reflection->AddDouble(&message, &field, 0.5);
      return reflection->SetDouble(&message, &field, 0.5);
    case FieldDescriptor::CPPTYPE_UINT64:
      if (repeated) return reflection->AddUInt64(&message, &field, 1);
      return reflection->SetUInt64(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_INT64:
      if (repeated) return reflection->AddInt64(&message, &field, 1);
      return reflection->SetInt64(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_UINT32:
      if (repeated) return reflection->AddUInt32(&message, &field, 1);
      return reflection->SetUInt32(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_INT32:
      if (repeated) return reflection->AddInt32(&message, &field, 1);
      return reflection->SetInt32(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_BOOL:
      if (repeated) return reflection->AddBool(&message, &field, true);
      return reflection->SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      if (repeated) return reflection->AddEnumValue(&message, &field, 1);
      return reflection->SetEnumValue(&message, &field, 1);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return;
  }
}

void fill(Message& message, int depth) {
  const auto* type = message.GetDescriptor();
  for (int k = 0; k < type->field_count(); ++k) fill_field(message, *type->field(k), depth);
}

// A frame for each member of the envelope's oneof. @return false if one cannot be written
bool write_all(const Message& prototype, const std::vector<proto::FrameLimit>& limits,
               const std::filesystem::path& folder) {
  constexpr int kDepth = 4;
  const auto* type = prototype.GetDescriptor();
  bool fine = true;
  for (int k = 0; k < type->field_count(); ++k) {
    const std::unique_ptr<Message> envelope(prototype.New());
    fill_field(*envelope, *type->field(k), kDepth);
    std::string bytes;
    fine = proto::append_frame(*envelope, limits, bytes).ok() && fine;
    std::ofstream(folder / (type->name() + "-" + type->field(k)->name()), std::ios::binary)
        << bytes;
  }
  return fine;
}

using rigcal::v1::ServiceRequest;

std::string frames_of(const std::vector<ServiceRequest>& requests) {
  std::string bytes;
  for (const ServiceRequest& request : requests) {
    if (!proto::append_frame(request, proto::service_request_limits(), bytes).ok()) return {};
  }
  return bytes;
}

// A run of two batches: opened, streamed with a repetition, closed.
std::vector<ServiceRequest> make_stream(const std::string& id) {
  std::vector<ServiceRequest> requests(5);
  auto& open = *requests[0].mutable_open_session();
  open.set_protocol_version(proto::kStreamVersion);
  open.set_session_id(id);
  (*open.mutable_metadata())["hinges"] = "arm";
  for (int k = 1; k <= 3; ++k) {
    auto& batch = *requests[static_cast<std::size_t>(k)].mutable_sample_batch();
    const int number = k == 3 ? 2 : k;
    batch.set_batch_sequence(static_cast<std::uint64_t>(number));
    auto& sample = *batch.add_samples();
    sample.set_timestamp(1e-3 * number);
    sample.set_sequence(static_cast<std::uint64_t>(number));
    sample.add_encoder_counts(number);
    sample.add_angle_rad(0.5);
    sample.add_valid(true);
  }
  requests[4].mutable_close_session()->set_last_batch_sequence(2);
  return requests;
}

ServiceRequest make_hello() {
  ServiceRequest request;
  request.mutable_hello()->set_protocol_version(proto::kServiceVersion);
  request.mutable_hello()->set_client("seed");
  return request;
}

// A stream, then a client that requests everything about it.
std::string make_client_conversation() {
  std::vector<ServiceRequest> all = make_stream("run");
  all.push_back(make_hello());
  const auto add = [&all]() -> ServiceRequest& { return all.emplace_back(); };
  add().mutable_list_sessions();
  add().mutable_inspect_session()->set_session_id("run");
  add().mutable_subscribe_session()->set_session_id("run");
  add().mutable_read_recording()->set_session_id("run");
  auto& upload = *add().mutable_open_upload();
  upload.set_session_id("file");
  upload.set_file_name("a.csv");
  upload.set_size_bytes(4);
  auto& part = *add().mutable_upload_part();
  part.set_session_id("file");
  part.set_data("t,a\n");
  auto& submit = *add().mutable_submit_job();
  submit.set_job_id("job");
  submit.mutable_spec()->set_rig_text("name: \"rig\"");
  submit.mutable_spec()->add_recordings()->set_session_id("run");
  add().mutable_list_jobs();
  add().mutable_inspect_job()->set_job_id("job");
  add().mutable_subscribe_job()->set_job_id("job");
  add().mutable_get_result()->set_job_id("job");
  add().mutable_read_report()->set_job_id("job");
  add().mutable_cancel_job()->set_job_id("job");
  add().mutable_delete_job()->set_job_id("job");
  add().mutable_delete_session()->set_session_id("run");
  return frames_of(all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: service_message_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  const bool requests =
      write_all(rigcal::v1::ServiceRequest(), proto::service_request_limits(), folder);
  const bool replies = write_all(rigcal::v1::ServiceReply(), proto::service_reply_limits(), folder);
  const std::string stream = frames_of(make_stream("run"));
  const std::string conversation = make_client_conversation();
  std::ofstream(folder / "stream", std::ios::binary) << stream;
  std::ofstream(folder / "conversation", std::ios::binary) << conversation;
  return requests && replies && !stream.empty() && !conversation.empty() ? 0 : 1;
}
