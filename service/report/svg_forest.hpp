#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// A forest plot: a row a piece, a column a parameter, each with an axis of its own. Of a piece its
/// estimate (dot) and its 95 % interval by noise (bar, cut off at the axis' ends); of all together
/// the same in the last row, and its interval over all rows (band). A piece that cannot tell a
/// parameter leaves its place empty. In HTML: a picture a parameter, four beside one another where
/// the page is wide, two or one where it is narrow, always with the labels at the left.
///
/// @param pieces   one or more
/// @param labels   of the pieces
/// @param columns  indices of the parameters to draw
std::string svg_forest(const std::vector<estimator::PieceEstimate>& pieces,
                       const std::vector<std::string>& labels,
                       const std::vector<estimator::ParameterEstimate>& parameters,
                       const std::vector<std::size_t>& columns);

}  // namespace service
