#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "firmware_iface/conformance/test_host.hpp"
#include "tests/firmware_iface/core_board.hpp"

namespace firmware_iface {

/// A unit that violates one requirement.
struct PlantedFault {
  std::string id;    ///< of the only check that must fail
  std::string name;  ///< behaviour of the faulty unit
  std::function<void(BoardFault&)> plant = {};
  std::function<void(unit_description&)> describe = {};  ///< changes the board's description
  std::function<void(unit&)> start = {};                 ///< changes the core after its reset
  conformance::TestSettings settings = {.after_reset = true};
};

/// Prints the fault's name beside the name of a failing test.
inline void PrintTo(const PlantedFault& planted, std::ostream* out) { *out << planted.name; }

std::vector<PlantedFault> planted_faults();

// The parts of the list.
std::vector<PlantedFault> faults_of_frames();
std::vector<PlantedFault> faults_of_sessions();
std::vector<PlantedFault> faults_of_samples();
std::vector<PlantedFault> faults_of_commands();
std::vector<PlantedFault> faults_of_trips();

}  // namespace firmware_iface
