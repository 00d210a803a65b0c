#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proto {

/// Contents of a file. @throws InputError naming the file when it cannot be read.
std::string read_file(const std::string& path);

/// Writes the file under a temporary name beside it, then renames it, so that a reader never sees
/// half a file and a failure leaves what was there. @throws InputError naming the file.
void write_file(const std::string& path, std::string_view contents);

/// Refuses, before the work is done, an output that would be written over an input or nowhere.
/// @throws InputError when `output` is one of `inputs`, also through links or other spellings, is a
///         folder, or lies in a folder that does not exist or may not be written to
void check_output(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace proto
