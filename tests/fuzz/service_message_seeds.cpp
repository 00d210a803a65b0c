// Writes one frame of every request and reply of the service as seeds for its fuzzer: messages with
// every field set, at every depth; and conversations of a client and a rig.
//   service_message_seeds FOLDER

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

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
using google::protobuf::TextFormat;
using rigcal::v1::ServiceRequest;

void fill(Message& message, int depth);

std::string text_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "'arm,pendulum'";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "0.5";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true";
    default:
      return "1";  // whole numbers, and the number of an enumeration's value
  }
}

void fill_field(Message& message, const FieldDescriptor& field, int depth) {
  const auto* reflection = message.GetReflection();
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    TextFormat::ParseFieldValueFromString(text_of(field), &field, &message);
  } else if (depth > 0) {
    fill(field.is_repeated() ? *reflection->AddMessage(&message, &field)
                             : *reflection->MutableMessage(&message, &field),
         depth - 1);
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

// @return the frames of requests in the text format; empty if one cannot be written
std::string frames_of(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    ServiceRequest request;
    if (!TextFormat::ParseFromString(text, &request) ||
        !proto::append_frame(request, proto::service_request_limits(), bytes).ok()) {
      return {};
    }
  }
  return bytes;
}

std::string batch_text(int number) {
  const std::string n = std::to_string(number);
  return "sample_batch { batch_sequence: " + n + " samples { timestamp: 0.00" + n +
         " sequence: " + n + " encoder_counts: " + n + " angle_rad: 0.5 valid: true } }";
}

// A run of two batches: opened, streamed with a repetition, closed.
std::vector<std::string> make_stream(const std::string& id) {
  return {"open_session { protocol_version: " + std::to_string(proto::kStreamVersion) +
              " session_id: '" + id + "' metadata { key: 'hinges' value: 'arm' } }",
          batch_text(1), batch_text(2), batch_text(2), "close_session { last_batch_sequence: 2 }"};
}

// A stream, then a client that requests everything about it.
std::string make_client_conversation() {
  std::vector<std::string> all = make_stream("run");
  for (const char* text :
       {"list_sessions {}", "inspect_session { session_id: 'run' }",
        "subscribe_session { session_id: 'run' }", "read_recording { session_id: 'run' }",
        "open_upload { session_id: 'file' file_name: 'a.csv' size_bytes: 4 }",
        "upload_part { session_id: 'file' data: 't,a\\n' }",
        "submit_job { job_id: 'job' spec { rig_text: 'name: \"rig\"' "
        "recordings { session_id: 'run' } } }",
        "list_jobs {}", "inspect_job { job_id: 'job' }", "subscribe_job { job_id: 'job' }",
        "stop_session { session_id: 'run' }", "get_result { job_id: 'job' }",
        "read_report { job_id: 'job' }", "cancel_job { job_id: 'job' }",
        "delete_job { job_id: 'job' }", "delete_session { session_id: 'run' }"}) {
    all.emplace_back(text);
  }
  all.insert(all.begin() + 5, "hello { protocol_version: " +
                                  std::to_string(proto::kServiceVersion) + " client: 'seed' }");
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
