#pragma once

#include <string>

#include "proto/result.hpp"

namespace google::protobuf {
class Message;
}

namespace service {

/// Writes a message as text-format protobuf, durably and atomically.
proto::Status save_record(const std::string& path, const google::protobuf::Message& record);

/// Reads such a file. @return kDamaged if it does not parse
proto::Status load_record(const std::string& path, google::protobuf::Message& record);

}  // namespace service
