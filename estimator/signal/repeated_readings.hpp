#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// Returns the number of rows per new reading of a sensor that is slower than the recording, such
/// as 2 for a sensor at half the rate, whose readings each stand in two rows. Returns 1 if every
/// row has its own reading, or if there are too few changes to judge.
///
/// Only readings between two changes of more than one quantization step count, since a joint that
/// moves slowly or rests repeats its quantized readings too. Their numbers of rows must be equal,
/// or alternate between n and n + 1 if the rate of the recording is not a multiple of the sensor's.
/// @param segments  readings of the sensor in each segment; NaN: not observed
/// @param quantum   quantization step of the readings; 0 if they are not quantized
double find_rows_per_reading(const std::vector<Eigen::VectorXd>& segments, double quantum);

/// Returns the rows that repeat an earlier reading of a sensor, in ascending order.
/// @param readings          readings of one segment; NaN: not observed
/// @param rows_per_reading  from `find_rows_per_reading`
std::vector<int> find_repeated_rows(const Eigen::Ref<const Eigen::VectorXd>& readings,
                                    double rows_per_reading);

}  // namespace estimator
