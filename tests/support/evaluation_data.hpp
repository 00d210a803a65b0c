#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <optional>
#include <string>

namespace test_support {

/// Folder of the evaluation data: $RIG_DATA, or shared/data beside the checkout or above it.
/// Nothing where there is none; tests then skip.
std::optional<std::filesystem::path> find_evaluation_data();

/// Numbers of a CSV file with one header line, one row a line; empty cells and "nan" are NaN.
/// @throws std::runtime_error naming the file and the line where a row has another length
Eigen::MatrixXd read_csv(const std::filesystem::path& file);

}  // namespace test_support
