#pragma once

#include <google/protobuf/descriptor.h>

#include <span>
#include <string>
#include <string_view>

namespace google::protobuf {
class Struct;
}

namespace proto {

/// Field of a file that had another name in earlier versions of rigcal.
struct RenamedField {
  std::string_view message;  ///< full name, e.g. "rigcal.v1.Rig"
  std::string_view old_name;
  std::string_view new_name;
};

/// Returns all fields of rigcal's files that were renamed. scripts/convert_old_files.py reads this
/// table from the source.
std::span<const RenamedField> renamed_fields();

/// Returns the old and new name of a renamed field; null if the message never had a field with this
/// old name.
const RenamedField* find_renamed_field(const google::protobuf::Descriptor& message,
                                       std::string_view old_name);

/// Returns a sentence such as 'field "hinge" is now called "joint"; run
/// scripts/convert_old_files.py --in-place FILE to convert the file'.
/// @param path path of the file
std::string describe_renamed_field(std::string_view old_name, std::string_view new_name,
                                   std::string_view path);

/// Returns a message about the first outdated field name in a JSON object: "FILE: ", then the
/// sentence of describe_renamed_field; empty if there is none.
/// @param path path of the file with the object
/// @param type type of the message that the object represents
std::string find_renamed_json_field(const std::string& path, const google::protobuf::Struct& object,
                                    const google::protobuf::Descriptor& type);

/// Parses a JSON text and returns a message about the first outdated field name; empty if there is
/// none or if the text is not JSON.
std::string find_renamed_json_field(const std::string& path, const std::string& json,
                                    const google::protobuf::Descriptor& type);

}  // namespace proto
