#pragma once

#include <string>

#include "proto/result.hpp"

namespace google::protobuf {
class Message;
}

namespace service {

/// Writes a Protobuf message to a file in text format. After a crash the file has its old or its
/// new content.
proto::Status save_record(const std::string& path, const google::protobuf::Message& record);

/// Reads a Protobuf message from a file in text format.
/// @return error kDamaged if the file does not parse
proto::Status load_record(const std::string& path, google::protobuf::Message& record);

}  // namespace service
