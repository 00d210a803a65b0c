#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace service {

/// Runs a program with this program's output and waits for it.
///
/// The child has a process group of its own, so a terminal's Ctrl-C reaches only this program. It
/// sends one SIGINT to the child and waits: some programs would treat a second one as an abort. If
/// this program is killed, the kernel sends SIGINT to the child.
///
/// @param command  program and arguments; a name without a slash is searched along PATH
/// @param stop     set by Ctrl-C
/// @return its exit status, or 128 + signal
/// @throws proto::InputError if it cannot be started
int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop);

/// Returns the path of a program installed beside this one, or its name if there is none.
std::string program_beside_this(const std::string& name);

}  // namespace service
