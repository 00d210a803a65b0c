#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Returns the number of rows per new reading of a sensor. For a sensor at half the rate of the
/// recording it is 2, since each reading appears in two rows. Returns 1 if every row has its own
/// reading, or if there are too few changes to judge.
///
/// Counts only readings between two changes of more than one quantization step, since the quantized
/// readings of a slow or resting joint repeat too. All counts must be equal, or alternate between n
/// and n + 1 if the rate of the recording is not a multiple of the sensor's rate.
/// @param segments  readings of the sensor in each segment; NaN: not observed
/// @param quantum   quantization step of the readings; 0 if they are not quantized
double find_rows_per_reading(const std::vector<Eigen::VectorXd>& segments, double quantum);

/// Returns the rows that repeat an earlier reading of a sensor, in ascending order.
/// @param readings          readings of one segment; NaN: not observed
/// @param rows_per_reading  result of `find_rows_per_reading`
std::vector<int> find_repeated_rows(const Eigen::Ref<const Eigen::VectorXd>& readings,
                                    double rows_per_reading);

}  // namespace estimator
