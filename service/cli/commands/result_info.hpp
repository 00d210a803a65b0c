#pragma once

#include <string>

namespace service {

/// Prints the parameters of a calibration result; for other results, prints their kind and origin.
/// @throws proto::InputError if the file is not a result
void print_result_file(const std::string& path);

}  // namespace service
