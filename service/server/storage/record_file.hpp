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

/// Creates a folder durably with a record in the file `name`. The folder contains the record from
/// the moment it has its final name.
proto::Status create_record_folder(const std::string& folder, const std::string& name,
                                   const google::protobuf::Message& record);

/// Reads a Protobuf message from a file in text format.
/// @return error kDamaged if the file does not parse
proto::Status load_record(const std::string& path, google::protobuf::Message& record);

}  // namespace service
