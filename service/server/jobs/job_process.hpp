#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

namespace service {

/// Flags that signals set in the process of a job.
struct JobFlags {
  const std::atomic<bool>* stop;          ///< set by SIGTERM and SIGALRM
  const std::atomic<bool>* is_time_over;  ///< set by SIGALRM
};

/// Handles SIGTERM, and SIGALRM at the time limit. Ignores SIGINT, because the service handles
/// Ctrl-C of a terminal.
JobFlags handle_job_signals();

/// Limits the memory, the processor time and the file size of this process, and lowers its
/// priority. The job runs even if the kernel refuses these limits.
/// @param memory_bytes_max  0: no limit
/// @param duration_s_max    time limit [s]
void limit_job_resources(rlim_t memory_bytes_max, double duration_s_max);

/// Lets the kernel end this process when the service ends.
/// @param parent  process of the service
/// @return false if the process of the service has already ended
bool end_with_service(pid_t parent);

/// Returns the sentence that a client reads about the current exception.
std::string describe_job_exception();

/// Sends the reason for a failure to the service. Call it while an exception is being handled.
void report_job_exception();

/// Sends a worker message to the service. Blocks while the service is busy.
void send_to_service(const std::string& frame);

/// Reads a non-negative number. Returns false if the text is anything else.
bool parse_job_number(const std::string& text, double& number);

/// Executes the command "run-job FOLDER PARENT_PID MEMORY_BYTES DURATION_S RECORDING...": calls
/// run_job in this process at low priority, with limits on memory, processor time and file size.
/// The process ends on SIGTERM, on SIGALRM (time limit) and when its parent process ends. It writes
/// worker messages to file descriptor 3.
/// @return exit status: 0 job done, 1 job failed, 2 not started by a service
int run_job_process(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace service
