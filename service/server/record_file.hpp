#pragma once

#include <string>

#include "proto/result.hpp"

namespace google::protobuf {
class Message;
}

namespace service {

/// Writes a message as text-format protobuf, durably and all or nothing.
proto::Status save_record(const std::string& path, const google::protobuf::Message& record);

/// Reads it back. @return kDamaged if it does not parse
proto::Status load_record(const std::string& path, google::protobuf::Message& record);

}  // namespace service
