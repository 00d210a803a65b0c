#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"

namespace service {

/// Returns an HTML forest plot that compares the estimates from parts of the data. Each row is a
/// part, and each column is a parameter with its own axis. A dot shows the estimate from a part,
/// and a bar shows its 95 % interval from sensor noise, cut at the axis ends. The last row shows
/// the estimate from all data; a band through all rows shows its interval. The row of a part that
/// does not identify a parameter has no dot. A page shows one, two or four columns side by side.
///
/// @param parts   estimates from the parts; at least one
/// @param labels   names of the parts
/// @param columns  indices of the parameters to plot
std::string render_forest_plot(const std::vector<estimator::RecordingPartEstimate>& parts,
                               const std::vector<std::string>& labels,
                               const std::vector<estimator::ParameterEstimate>& parameters,
                               const std::vector<std::size_t>& columns);

/// Returns a heat map of a correlation matrix as SVG, with numbers in the cells. Positive
/// correlations are orange, negative ones blue; larger magnitudes have a stronger colour.
/// @param names  names of the rows and columns
std::string render_correlation_heat_map(const Eigen::MatrixXd& correlation,
                                        const std::vector<std::string>& names);

}  // namespace service
