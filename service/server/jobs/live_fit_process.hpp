#pragma once

#include <string>
#include <vector>

namespace service {

/// Executes the command "run-live-fit PARENT_PID MEMORY_BYTES DURATION_S" at low priority, with
/// limits on memory and processor time: reads frames with OpenSession and SampleBatch from standard
/// input, and writes frames with LiveEstimate to file descriptor 3. Pauses between estimates, so
/// that it uses at most half of a processor on average. Ends with its standard input.
/// @return exit status: 0 the input has ended, 1 invalid input, 2 not started by a service
int run_live_fit_process(const std::vector<std::string>& arguments);

}  // namespace service
