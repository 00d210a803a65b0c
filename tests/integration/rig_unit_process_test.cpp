#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "proto/text/files.hpp"
#include "tests/integration/daq_process.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace test_support {
namespace {

using RigFileUnit = DaqProcess;

// The whole way of a newcomer without hardware: rig file, simulated unit, run, recording. The
// counts that rigcal-daq records are those that the simulated unit sent.
TEST_F(RigFileUnit, IsDrivenAndRecordedByRigcalDaq) {
  const std::string rig = proto::read_file(source_folder() + "/configs/rig-furuta.textproto");
  write("rig.textproto", replaced(rig, "staleness_ms_max: 250", "staleness_ms_max: 2000"));
  write(
      "pulse.textproto",
      "name: \"pulse\" duration_s: 1 pulse { motor: \"1\" command: 1 start_s: 0.1 width_s: 0.5 }");
  ASSERT_NO_FATAL_FAILURE(start_sim_of("--rig", "rig.textproto"));
  start_daq("pulse.textproto");
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim_with_output_off();

  std::map<std::uint64_t, TruthRow> sent;
  for (const TruthRow& row : truth()) {
    if (!row.at("sample_sequence").empty()) sent[std::stoull(row.at("sample_sequence"))] = row;
  }
  const proto::Recording recorded = recording("run.mcap");
  ASSERT_GT(recorded.samples.size(), 900U);
  std::int64_t farthest = 0;
  for (const proto::Sample& sample : recorded.samples) {
    const TruthRow& row = sent.at(sample.sequence);
    EXPECT_EQ(sample.encoder_counts[0], std::stoll(row.at("count1")));
    EXPECT_EQ(sample.encoder_counts[1], std::stoll(row.at("count2")));
    farthest = std::max(farthest, std::abs(sample.encoder_counts[0]));
  }
  EXPECT_GT(farthest, 20) << "the arm did not move";
}

}  // namespace
}  // namespace test_support
