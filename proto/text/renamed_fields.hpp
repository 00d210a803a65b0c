#pragma once

#include <google/protobuf/descriptor.h>

#include <span>
#include <string>
#include <string_view>

namespace google::protobuf {
class Struct;
}

namespace proto {

/// A field that had another name in earlier versions.
struct RenamedField {
  std::string_view message;  ///< full name, e.g. "rigcal.v1.Rig"
  std::string_view old_name;
  std::string_view new_name;
};

/// Returns all fields of rigcal's files that were renamed. scripts/convert_old_files.py reads this
/// table from the source.
std::span<const RenamedField> renamed_fields();

/// Returns the row of a field's old name; null if the message never had a field of this name.
const RenamedField* find_renamed_field(const google::protobuf::Descriptor& message,
                                       std::string_view old_name);

/// Returns a sentence such as 'field "hinge" is now called "joint"; run
/// scripts/convert_old_files.py --in-place FILE to convert the file'.
/// @param path of the file
std::string describe_renamed_field(std::string_view old_name, std::string_view new_name,
                                   std::string_view path);

/// Returns "FILE: " and the sentence of describe_renamed_field for the first old field name in a
/// JSON object; empty if there is none.
/// @param path of the file with the object
/// @param type of the message that the object represents
std::string find_renamed_json_field(const std::string& path, const google::protobuf::Struct& object,
                                    const google::protobuf::Descriptor& type);

/// Parses a JSON text and returns the sentence about its first old field name; empty if the text is
/// not JSON.
std::string find_renamed_json_field(const std::string& path, const std::string& json,
                                    const google::protobuf::Descriptor& type);

}  // namespace proto
