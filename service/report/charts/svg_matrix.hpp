#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace service {

/// Returns a heat map of a correlation matrix as SVG, with numbers in the cells. Positive
/// correlations are orange, negative ones blue; larger magnitudes have a stronger colour.
/// @param names  names of the rows and columns
std::string svg_correlation(const Eigen::MatrixXd& correlation,
                            const std::vector<std::string>& names);

}  // namespace service
