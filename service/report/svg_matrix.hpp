#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Heat map of a correlation matrix, entries in [−1, 1], with names at rows and columns and the
/// numbers in the cells. Orange is positive, blue negative, stronger where the magnitude is larger.
std::string svg_correlation(const Eigen::MatrixXd& correlation,
                            const std::vector<std::string>& names);

}  // namespace service
