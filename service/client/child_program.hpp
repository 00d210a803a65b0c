#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace service {

/// Runs a program and waits for it. Its output is this program's.
///
/// A Ctrl-C is meant for this program, which passes it on once and waits for the end: the program
/// is in a process group of its own, so that the terminal's does not reach it as well, which some
/// take for a second one. Should this program be killed meanwhile, it gets the same signal.
///
/// @param command  program and arguments; a name without slash is sought along PATH
/// @param stop     set by Ctrl-C
/// @return its exit status, or 128 + signal
/// @throws proto::InputError where it cannot be started
int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop);

/// A program that is installed beside this one; its name alone where there is none.
std::string program_beside_this(const std::string& name);

}  // namespace service
