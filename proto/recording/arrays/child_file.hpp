#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proto/recording/arrays/array_file.hpp"

namespace proto {

using ArrayFileOpener = std::function<std::unique_ptr<const ArrayFile>(const std::string& path)>;

/// Opens a file in a child process, which lists and reads its arrays. The file is refused if the
/// child crashes, needs more than 1 GiB of memory, or needs more processor time than any intact
/// file. The child ends with the returned object.
/// @param library  name of the library that may crash, for messages
/// @throws InputError
std::unique_ptr<const ArrayFile> open_in_child(const std::string& path, const std::string& library,
                                               const ArrayFileOpener& open);

}  // namespace proto
