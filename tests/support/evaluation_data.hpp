#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <optional>
#include <string>

namespace test_support {

/// Folder of the evaluation data: $RIG_DATA, or shared/data beside the checkout or above it. Empty
/// if it does not exist; tests then skip.
std::optional<std::filesystem::path> find_evaluation_data();

/// Numbers of a CSV file with one header line, one row per line. Empty cells and "nan" are NaN.
/// @throws std::runtime_error naming file and line if a row has another length
Eigen::MatrixXd read_csv(const std::filesystem::path& file);

}  // namespace test_support
