#include "proto/recording/message_schema.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <utility>

namespace proto {
namespace {

void add_file(const google::protobuf::FileDescriptor& file,
              google::protobuf::FileDescriptorSet& set) {
  for (int k = 0; k < file.dependency_count(); ++k) add_file(*file.dependency(k), set);
  for (const auto& present : set.file()) {
    if (present.name() == file.name()) return;
  }
  file.CopyTo(set.add_file());
}

// Returns a message's schema in MCAP's form: a FileDescriptorSet with all its dependencies.
std::string file_descriptor_set(const google::protobuf::Descriptor& type) {
  google::protobuf::FileDescriptorSet set;
  add_file(*type.file(), set);
  return set.SerializeAsString();
}

}  // namespace

std::uint16_t add_message_channel(McapWriter& writer, const std::string& topic,
                                  const google::protobuf::Descriptor& type, McapMap metadata) {
  const std::string schema = file_descriptor_set(type);
  return writer.add_channel(topic, "protobuf", std::string(type.full_name()), "protobuf",
                            as_bytes(schema), std::move(metadata));
}

}  // namespace proto
