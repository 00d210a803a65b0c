#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// Returns a forest plot as HTML: one row per piece, one column with its own axis per parameter. A
/// dot shows a piece's estimate, a bar its 95 % interval from noise, cut at the axis ends. The last
/// row shows the estimate from all pieces; a band shows its interval in all rows. A piece that
/// cannot identify a parameter has no entry. Pictures stand four, two or one abreast by page width,
/// with labels at the left.
///
/// @param pieces   at least one
/// @param labels   of the pieces
/// @param columns  indices of the parameters to plot
std::string svg_forest(const std::vector<estimator::PartEstimate>& pieces,
                       const std::vector<std::string>& labels,
                       const std::vector<estimator::ParameterEstimate>& parameters,
                       const std::vector<std::size_t>& columns);

}  // namespace service
