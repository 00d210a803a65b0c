#pragma once

#include <functional>
#include <string>
#include <vector>

namespace proto {

/// Runs another program and waits for its end.
///
/// The child process has a separate process group, so Ctrl-C on a terminal reaches only this
/// program. To stop the child, this program sends a single SIGINT: some programs would abort at a
/// second one. If this program is killed, the kernel sends SIGINT to the child.
///
/// @param command  program and arguments; a name without a slash is searched along PATH
/// @param must_stop  returns whether to stop the child; called every 10 ms
/// @param output   file for the output of the child; empty: this program's output
/// @return exit status of the child, or 128 + signal
/// @throws InputError if the program cannot be started
int run_program(const std::vector<std::string>& command, const std::function<bool()>& must_stop,
                const std::string& output = "");

/// Returns the path of the program `name` in this program's folder, or `name` itself if it is not
/// there.
std::string program_beside_this(const std::string& name);

/// Returns the first of these programs that is in a folder of PATH; empty if there is none.
std::string find_installed_program(const std::vector<std::string>& names);

}  // namespace proto
