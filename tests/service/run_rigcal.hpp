#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace service {

/// Output and exit code of a run of rigcal.
struct ProgramRun {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

/// A separate folder for files that a test writes.
class TemporaryFolder : public test_support::TemporaryFolder {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
};

inline std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Runs rigcal with the arguments, as a shell would.
inline ProgramRun run_rigcal(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string command = std::string(RIGCAL_BINARY) + " " + arguments + " >" +
                              folder.file("out") + " 2>" + folder.file("err") + " </dev/null";
  const int status = std::system(command.c_str());
  ProgramRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = contents_of(folder.file("out"));
  run.err = contents_of(folder.file("err"));
  return run;
}

/// Runs rigcal and expects exit status 0 and these parts on standard output.
inline ProgramRun run_successfully(const std::string& arguments,
                                   const std::vector<std::string>& parts = {}) {
  ProgramRun run = run_rigcal(arguments);
  EXPECT_EQ(run.exit_code, 0) << arguments << '\n' << run.out << run.err;
  test_support::expect_parts(run.out, parts);
  return run;
}

/// Runs rigcal and expects exit status 1 and an error message with these parts.
inline ProgramRun run_refused(const std::string& arguments, const std::vector<std::string>& parts) {
  ProgramRun run = run_rigcal(arguments);
  EXPECT_EQ(run.exit_code, 1) << arguments << '\n' << run.out << run.err;
  test_support::expect_parts(run.err, parts);
  return run;
}

/// The same, with nothing on standard output.
inline ProgramRun expect_refused(const std::string& arguments,
                                 const std::vector<std::string>& parts = {}) {
  ProgramRun run = run_refused(arguments, parts);
  EXPECT_EQ(run.out, "") << arguments;
  return run;
}

inline std::string config(const std::string& name) {
  return test_support::source_folder() + "/configs/" + name;
}

}  // namespace service
