#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace service {

/// Runs another program, which writes to this program's output, and waits for its end.
///
/// The child process has a separate process group, so a terminal's Ctrl-C reaches only this
/// program. On Ctrl-C this program sends one SIGINT to the child and waits, because some programs
/// would abort at a second SIGINT. If this program is killed, the kernel sends SIGINT to the child.
///
/// @param command  program and arguments; a name without a slash is searched along PATH
/// @param stop     flag that Ctrl-C sets
/// @return exit status of the child, or 128 + signal
/// @throws proto::InputError if the program cannot be started
int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop);

/// Returns the path of the program `name` in this program's folder, or `name` itself if it is not
/// there.
std::string program_beside_this(const std::string& name);

}  // namespace service
