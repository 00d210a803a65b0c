#include <signal.h>

#include <filesystem>

#include "proto/recording/recording_recover.hpp"
#include "proto/stream.pb.h"
#include "tests/daq/local_service.hpp"
#include "tests/integration/daq_process.hpp"
#include "tests/integration/line_relay.hpp"
#include "tests/integration/rig_files.hpp"
#include "tests/support/refusal.hpp"

// The two programs as an operator runs them, in real time. The tests assert what happens, not when.
// "Within the ttl" is measured by the unit on its own clock.

namespace {

using namespace test_support;

// From the encoder to the file: every sample sent by the unit is recorded or listed as a gap, with
// the counts that were true at its latch.
TEST_F(DaqProcess, RecordsEverySampleOfTheUnit) {
  start_sim();
  start_daq("short.textproto");
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim();
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  std::uint64_t listed = 0;
  for (const proto::Gap& gap : run.gaps) listed += gap.sample_count;
  EXPECT_EQ(run.samples.size() + listed, counted("samples_sent"));

  std::map<std::uint64_t, TruthRow> by_sequence;
  for (TruthRow& row : truth()) {
    const std::string sequence = row["sample_sequence"];
    if (!sequence.empty()) by_sequence[std::stoull(sequence)] = std::move(row);
  }
  ASSERT_GT(run.samples.size(), 500U);
  for (const proto::Sample& sample : run.samples) {
    TruthRow& row = by_sequence[sample.sequence];
    ASSERT_EQ(std::to_string(sample.encoder_counts[0]), row["count1"]) << sample.sequence;
    ASSERT_EQ(std::to_string(sample.encoder_counts[1]), row["count2"]) << sample.sequence;
  }
  EXPECT_EQ(counted("trips_ttl"), 0U);
}

// Only the rig file says which joints are prismatic. The recording must state it, since their
// readings are in metres.
TEST_F(DaqProcess, RecordsWhichJointIsPrismatic) {
  edit("rig.textproto", "\"rod\" encoder { counts_per_turn: 4096 }",
       "\"rod\" type: PRISMATIC encoder { counts_per_m: 20000 }");
  edit("rig.textproto", "\"rod\" angle_rad_min: -900 angle_rad_max: 900 speed_rad_per_s_max: 100",
       "\"rod\" position_m_min: -900 position_m_max: 900 speed_m_per_s_max: 100");
  start_sim();
  start_daq("short.textproto");
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim();
  EXPECT_EQ(recording("run.mcap").header.slides, std::vector<std::string>{"rod"});
}

// Ctrl-C ends a run in order: power off, recording complete under its own name.
TEST_F(DaqProcess, CompletesTheRecordingOnCtrlC) {
  start_long();
  daq_->send_signal(SIGINT);
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim_with_output_off();
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  EXPECT_NE(find_event(run, "stop"), nullptr);
  EXPECT_EQ(counted("trips_ttl"), 0U);
}

// A second Ctrl-C ends the program at once with the place of the recording. The process is stopped
// while both signals are sent, so that neither comes too early.
TEST_F(DaqProcess, ExplainsRecoveryOnASecondCtrlC) {
  start_long();
  for (const int signal : {SIGSTOP, SIGINT, SIGTERM, SIGCONT}) daq_->send_signal(signal);
  EXPECT_GT(daq_exit_code(), 128);
  expect_parts(daq_->output(), {"rigcal recover " + path("run.mcap.part")});
  EXPECT_TRUE(std::filesystem::exists(path("run.mcap.part")));
  wait_until_off();  // by its time to live, or by the stop of the loop in between the signals
  stop_sim_with_output_off();
  EXPECT_LE(counted("unattended_us_max"), kTtl_us);
}

// After kill -9 the unit's own ttl must switch off. The unfinished recording is readable, and once
// recovered it states how the run ended.
TEST_F(DaqProcess, KilledLeavesTheUnitOffAndAReadableRecording) {
  start_long();
  daq_->send_signal(SIGKILL);
  ASSERT_EQ(daq_exit_code(), 128 + SIGKILL);
  wait_until_tripped();
  stop_sim_with_output_off();
  EXPECT_EQ(counted("trips_ttl"), 1U);
  EXPECT_GT(counted("unattended_us_max"), 0U);
  EXPECT_LE(counted("unattended_us_max"), kTtl_us);

  const proto::Recording left = recording("run.mcap.part");
  EXPECT_FALSE(left.scan.container.finished);
  EXPECT_GT(left.samples.size(), 100U);
  const auto recovery = proto::recover_recording(path("run.mcap.part"), path("whole.mcap"));
  ASSERT_TRUE(recovery.ok()) << recovery.error().detail;
  const proto::Recording whole = recording("whole.mcap");
  EXPECT_TRUE(whole.scan.container.intact());
  EXPECT_EQ(whole.samples.size(), left.samples.size());
  const proto::Event* trip = find_event(whole, proto::kInterruptedEvent);
  ASSERT_NE(trip, nullptr);
  EXPECT_EQ(trip->kind, proto::EventKind::kTrip);
  expect_parts(trip->text, {"250 ms"});
}

// The unit disappears, cable and all.
TEST_F(DaqProcess, EndsWithATripWhenTheUnitIsGone) {
  start_long();
  sim_->send_signal(SIGKILL);
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  const proto::Recording run = recording("run.mcap");
  EXPECT_TRUE(run.scan.container.intact());
  EXPECT_NE(find_event(run, "port closed"), nullptr) << daq_->output();
  EXPECT_NE(find_event(run, "black box"), nullptr);
}

struct BrokenLine {
  const char* name;
  LineMode mode;
  int exit_code;
  const char* trip;  // event in the recording
  bool trips_unit;   // the trip command reaches the unit
};

// A line that breaks while the rig is driven: the unit is off within its ttl, the recording is
// complete and holds the trip with its values and the last frames. The line breaks with the first
// sample under drive, so that a busy computer has no time for another trip. If such a computer
// cannot measure the unit's clock and does not drive, the run is repeated. If it missed a sample,
// its last command was idle, which the unit's ttl need not end.
class DaqOnABrokenLine : public DaqProcess, public ::testing::WithParamInterface<BrokenLine> {};

TEST_P(DaqOnABrokenLine, SwitchesOffAndRecordsTheTrip) {
  constexpr int kRunsMax = 5;
  const BrokenLine& broken = GetParam();
  start_sim(/*on_tcp=*/true);
  LineRelay relay(sim_port());
  relay.break_when_driven(broken.mode);
  std::string recorded;
  int exit_code = -1;
  for (int run = 1; run <= kRunsMax && !relay.is_broken(); ++run) {
    recorded = "run" + std::to_string(run) + ".mcap";
    start_daq("long.textproto", relay.url(), {}, {}, recorded);
    exit_code = daq_exit_code();
  }
  EXPECT_EQ(exit_code, broken.exit_code) << daq_->output();
  stop_sim_with_output_off();
  EXPECT_LE(counted("unattended_us_max"), kTtl_us);
  const unsigned last_flags = relay.last_command_flags();
  EXPECT_EQ((last_flags & COMMAND_TRIP) != 0, broken.trips_unit);
  if (broken.trips_unit) EXPECT_GT(counted("trips_host"), 0U);
  if ((last_flags & COMMAND_ENABLE) != 0 && counted("commands_rejected") == 0) {
    EXPECT_EQ(counted("trips_ttl"), 1U) << sim_->output();
  }

  const proto::Recording run = recording(recorded);
  EXPECT_TRUE(run.scan.container.intact());
  const proto::Event* trip = find_event(run, broken.trip);
  ASSERT_NE(trip, nullptr) << daq_->output();
  EXPECT_EQ(trip->kind, proto::EventKind::kTrip);
  EXPECT_GT(trip->value, trip->limit);
  expect_parts(daq_->output(), {"TRIP: " + trip->text});
  const proto::Event* frames = find_event(run, "black box");
  ASSERT_NE(frames, nullptr);
  EXPECT_GT(frames->last_frames.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(
    Line, DaqOnABrokenLine,
    ::testing::Values(BrokenLine{"Stalled", LineMode::kHold, 1, "link lost", false},
                      BrokenLine{"Corrupted", LineMode::kDamage, 1, "link lost", false},
                      BrokenLine{"ChannelLost", LineMode::kLoseChannel, 3, "missing channel",
                                 true}),
    [](const auto& broken) { return broken.param.name; });

// The service dies during a run and comes back: the run is not affected, and the service finally
// has every sample of the recording.
TEST_F(DaqProcess, ContinuesWithoutTheService) {
  StreamPeer peer;
  std::optional<LocalService> service(std::in_place, peer);
  const std::uint16_t port = service->port();
  start_long({"--service", service->host_port()});
  service.reset();
  ASSERT_NO_FATAL_FAILURE(wait_until_said("kept on the disk"));
  service.emplace(peer, port);
  ASSERT_NO_FATAL_FAILURE(wait_until_said("streaming again"));
  daq_->send_signal(SIGINT);
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  service.reset();
  stop_sim_with_output_off();
  EXPECT_EQ(counted("trips_ttl"), 0U);
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.spool")));

  const proto::Recording run = recording("run.mcap");
  std::vector<std::uint64_t> recorded;
  for (const proto::Sample& sample : run.samples) recorded.push_back(sample.sequence);
  const std::vector<std::string> sessions = peer.session_ids();
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_TRUE(peer.session(sessions[0]).closed);
  EXPECT_EQ(sample_sequences(peer.session(sessions[0])), recorded);
}

// A missing service costs nothing but a note, and its data can be sent later.
TEST_F(DaqProcess, LeavesASpoolForAServiceThatNeverComes) {
  const std::string host_port = "127.0.0.1:" + std::to_string(refusing_port());
  start_sim();
  start_daq("short.textproto", pty_url(), {"--service", host_port});
  ASSERT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"rigcal-daq send --spool"});
  const proto::Recording run = recording("run.mcap");

  StreamPeer peer;
  {
    const LocalService service(peer);
    ChildProcess send(
        {RIGCAL_DAQ, "send", "--spool", path("run.mcap.spool"), "--service", service.host_port()},
        path("send.txt"));
    ASSERT_EQ(send.wait(kPatience_s), 0) << send.output();
  }
  ASSERT_EQ(peer.session_ids().size(), 1U);
  EXPECT_EQ(sample_sequences(peer.session(peer.session_ids()[0])).size(), run.samples.size());
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.spool")));
}

// An operator's information before the first run: the connected unit and its readings, in words.
TEST_F(DaqProcess, ProbeAndMonitorShowTheUnitsReadings) {
  std::string rig_file = kRigFile, sim_file = kSimulationFile;
  rig_file.erase(rig_file.find("safety {"));  // neither needs limits
  rig_file.insert(rig_file.find("ttl_ms"), "inertial { sensor: \"imu\" } ");
  sim_file.insert(sim_file.find("ttl_max_ms"), "inertial {} ");
  write("rig.textproto",
        rig_file + "inertial_sensor { name: \"imu\" gyroscope { counts_per_rad_per_s: 940 } }");
  write("sim.textproto", sim_file);
  start_sim();
  const std::vector<std::string> rig = {"--rig", path("rig.textproto"), "--url", pty_url()};
  ChildProcess probe(with({RIGCAL_DAQ, "probe"}, rig), path("probe.txt"));
  EXPECT_EQ(probe.wait(kPatience_s), 0) << probe.output();
  ChildProcess monitor(with({RIGCAL_DAQ, "monitor"}, rig), path("monitor.txt"));
  ASSERT_TRUE(eventually([&] { return monitor.says("Ctrl-C ends"); }, kPatience_s));
  monitor.send_signal(SIGINT);
  EXPECT_EQ(monitor.wait(kPatience_s), 0) << monitor.output();
  for (const std::string& output : {probe.output(), monitor.output()}) {
    expect_parts(output, {"protocol 2, 2 encoders, 1000 Hz", "arm", "rod", "imu", "good",
                          "tripped: not unlocked since the unit started", "0 lost"});
    EXPECT_EQ(output.find('\x1b'), std::string::npos) << "escape codes are for terminals";
  }
}

// A port serves one program at a time. The second one gets an error and does not disturb the first.
TEST_F(DaqProcess, RefusesAPortThatIsInUse) {
  start_long();
  ChildProcess second({RIGCAL_DAQ, "probe", "--rig", path("rig.textproto"), "--url", pty_url()},
                      path("probe.txt"));
  EXPECT_EQ(second.wait(kPatience_s), 1);
  expect_parts(second.output(), {"another program has locked it"});
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  stop_sim();
  EXPECT_EQ(counted("hellos"), 1U);
}

// Bad input gives one message and exit code 2, and writes nothing to the disk.
TEST_F(DaqProcess, RefusesBadInputWithoutTouchingAnything) {
  start_sim();
  write("bad.textproto", "name: \"x\"\nduration_s: 1\nstep { comand: 1 }\n");
  start_daq("bad.textproto");
  EXPECT_EQ(daq_exit_code(), 2);
  expect_parts(daq_->output(), {"bad.textproto:3"});
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap")));
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap.part")));

  for (const char* name : {"run.txt", "no/run.mcap"}) {
    ChildProcess run({RIGCAL_DAQ, "run", "--rig", path("rig.textproto"), "--url", pty_url(),
                      "--scenario", path("short.textproto"), "--out", path(name)},
                     path("out.txt"));
    EXPECT_EQ(run.wait(kPatience_s), 2);
    expect_parts(run.output(), {name});
  }

  write("run.mcap", "precious");
  start_daq("short.textproto");
  EXPECT_EQ(daq_exit_code(), 2);
  expect_parts(daq_->output(), {"exists already"});
  EXPECT_EQ(std::filesystem::file_size(path("run.mcap")), 8U);
}

}  // namespace
