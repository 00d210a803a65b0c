#include "daq/console/exit_code.hpp"

#include <iostream>

namespace daq {

ExitCode fail(const std::string& detail) {
  std::cout.flush();
  std::cerr << "rigcal-daq: " << detail << '\n';
  return ExitCode::kTrouble;
}

}  // namespace daq
