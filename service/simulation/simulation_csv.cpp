#include "service/simulation/simulation_csv.hpp"

#include "service/recordings/formats/recording_csv.hpp"

namespace service {

std::string simulation_csv(const Rig& rig, const SimulatedRun& run) {
  estimator::Segment segment;
  segment.period = run.period;
  segment.angles = run.angles;
  segment.controls = run.controls;
  segment.inertial = run.inertial;
  return recording_csv(rig, {.name = {}, .segments = {segment}});
}

}  // namespace service
