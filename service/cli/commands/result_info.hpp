#pragma once

#include <string>

namespace service {

/// Prints the parameters of a calibration result; for other results, prints their kind and origin.
/// @throws proto::InputError if the file is not a result
void print_result_file(const std::string& path);

/// Prints the differences between the estimates of two calibration results.
/// @throws proto::InputError if a file is not a result of "rigcal calibrate"
void print_result_differences(const std::string& first_path, const std::string& second_path);

}  // namespace service
