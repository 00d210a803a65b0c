// Writes one frame of every request and reply of the service as seeds for its fuzzer: messages with
// every field filled, as far as they nest.
//   service_message_seeds FOLDER

#include <google/protobuf/descriptor.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

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
  return requests && replies ? 0 : 1;
}
