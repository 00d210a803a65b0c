#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <optional>
#include <string>

namespace test_support {

/// Returns the folder of the evaluation data: $RIG_DATA, or shared/data beside the checkout or
/// above it. Returns nullopt if it does not exist; tests that need the data are then skipped.
std::optional<std::filesystem::path> find_evaluation_data();

/// Returns the numbers of a CSV file that has one header line, as a matrix with a row per line.
/// Empty cells and "nan" become NaN.
/// @throws std::runtime_error naming file and line if a row has another number of cells
Eigen::MatrixXd read_csv(const std::filesystem::path& file);

}  // namespace test_support
