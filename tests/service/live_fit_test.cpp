#include "service/calibration/live_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "proto/text/files.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/source_folder.hpp"

// Estimates during a recording, from the messages of a simulated run.

namespace service {
namespace {

using rigcal::v1::LiveEstimate;

constexpr double kQuantum = 2.0 * std::numbers::pi / 4096.0;
constexpr double kPeriod_s = 2e-3;

std::string pendulum_text() {
  return proto::read_file(test_support::source_folder() + "/configs/rig-pendulum.textproto");
}

/// A swinging pendulum with true parameters unlike those of the rig file, read by an encoder.
class SwingingPendulum {
 public:
  SwingingPendulum() {
    Rig rig = parse_rig("rig.textproto", pendulum_text());
    test_support::set_free(rig,
                           {{"pendulum.J_zz", kInertia}, {"pivot.b", 4e-4}, {"pivot.tau_c", 2e-3}});
    run_ = test_support::simulated_recording(
        rig,
        "name: 'swing' duration_s: 12 initial { joint: 'pivot' angle_rad: 1.3 } release { joint: "
        "'pivot' held_angle_rad: 1.3 held_tolerance_rad: 0.2 }",
        kPeriod_s);
  }

  /// Adds the samples of [from_s, to_s) to a fit.
  void play(double from_s, double to_s, LiveFit& fit) const {
    rigcal::v1::SampleBatch batch;
    const estimator::Segment& segment = run_.segments.front();
    for (int k = 0; k < segment.sample_count(); ++k) {
      if (segment.time(k) < from_s - 1e-9 || segment.time(k) >= to_s - 1e-9) continue;
      const double counts = std::floor(segment.angles(k, 0) / kQuantum);
      auto& sample = *batch.add_samples();
      sample.set_timestamp(segment.time(k));
      sample.set_sequence(static_cast<std::uint64_t>(k));
      sample.set_device_time_us(std::llround(1e6 * segment.time(k)));
      sample.add_angle_rad(kQuantum * counts);
      sample.add_encoder_counts(static_cast<std::int64_t>(counts));
      sample.add_valid(true);
      sample.add_command(0.0);
    }
    fit.add(batch);
  }

  static constexpr double kInertia = 0.0061;

 private:
  estimator::Recording run_;
};

LiveFit make_fit(const std::string& rig_text = pendulum_text()) {
  rigcal::v1::LiveRequest request;
  request.set_rig_name("rig.textproto");
  request.set_rig_text(rig_text);
  proto::RecordingHeader names;
  names.joints = {"pivot"};
  return LiveFit(request, names);
}

const rigcal::v1::LiveParameter& inertia_in(const LiveEstimate& estimate) {
  for (const auto& parameter : estimate.parameters()) {
    if (parameter.name() == "pendulum.J_zz") return parameter;
  }
  ADD_FAILURE() << "no estimate: " << estimate.problem();
  static const rigcal::v1::LiveParameter kNone;
  return kNone;
}

// The intervals must shrink as the recording grows, and contain the truth. The number of complete
// calibrations, which test the model, must not grow with the number of estimates.
TEST(LiveFitTest, EstimatesWithShrinkingIntervals) {
  const SwingingPendulum pendulum;
  LiveFit fit = make_fit();
  EXPECT_FALSE(fit.is_due());
  double first_half_width = 0.0, half_width = 0.0;
  for (double time_s = 0.5; time_s <= 10.0; time_s += 0.5) {
    pendulum.play(time_s - 0.5, time_s, fit);
    ASSERT_TRUE(fit.is_due());
    const LiveEstimate estimate = fit.estimate();
    EXPECT_FALSE(fit.is_due());
    EXPECT_NEAR(estimate.through_s(), time_s - kPeriod_s, 1e-6);
    if (time_s < 1.25) {
      if (time_s < 1.0) EXPECT_EQ(estimate.problem(), "too little motion is recorded yet");
      continue;
    }
    SCOPED_TRACE(time_s);
    const auto& inertia = inertia_in(estimate);
    EXPECT_EQ(inertia.unit(), "kg·m²");
    // Twice the half-width is four standard deviations.
    EXPECT_NEAR(inertia.value(), SwingingPendulum::kInertia, 2.0 * inertia.half_width());
    if (first_half_width == 0.0) first_half_width = inertia.half_width();
    half_width = inertia.half_width();
    if (time_s > 3.0) EXPECT_TRUE(estimate.is_model_accepted());
  }
  // White reading errors alone give 1/√duration, from 1.5 s to 10 s.
  EXPECT_LT(half_width, std::sqrt(0.15) * first_half_width);
}

// A warm start must not change the result: the estimate that continues from earlier ones equals a
// calibration of the same samples from the rig file's values.
TEST(LiveFitTest, ContinuesToTheResultOfACompleteCalibration) {
  const SwingingPendulum pendulum;
  LiveFit continued = make_fit(), complete = make_fit();
  pendulum.play(0.0, 6.0, continued);
  continued.estimate();
  pendulum.play(6.0, 7.0, continued);
  pendulum.play(0.0, 7.0, complete);
  const LiveEstimate a = continued.estimate(), b = complete.estimate();
  ASSERT_EQ(a.parameters_size(), b.parameters_size());
  for (int k = 0; k < a.parameters_size(); ++k) {
    SCOPED_TRACE(a.parameters(k).name());
    // Both fits end within a tenth of a standard deviation of the optimum.
    const double tenth = 0.1 * b.parameters(k).half_width() / 1.96;
    EXPECT_NEAR(a.parameters(k).value(), b.parameters(k).value(), 2.0 * tenth);
    EXPECT_NEAR(a.parameters(k).half_width(), b.parameters(k).half_width(),
                0.05 * b.parameters(k).half_width());
  }
}

// Without viscous and dry friction the model cannot fit, and a recording must not end because of
// its intervals.
TEST(LiveFitTest, DoesNotAcceptAWrongModel) {
  std::string text = pendulum_text();
  const std::size_t friction = text.find("  friction {");
  text.erase(friction, text.find("  encoder {") - friction);
  const SwingingPendulum pendulum;
  LiveFit fit = make_fit(text);
  for (const double time_s : {2.0, 4.0, 6.0}) {
    pendulum.play(time_s - 2.0, time_s, fit);
    EXPECT_FALSE(fit.estimate().is_model_accepted());
  }
}

// While a hand holds the rig, its readings are not its motion.
TEST(LiveFitTest, WaitsForTheRelease) {
  const SwingingPendulum pendulum;
  LiveFit fit = make_fit();
  rigcal::v1::SampleBatch batch;
  auto& event = *batch.add_events();
  event.set_kind(rigcal::v1::Event::KIND_SCENARIO);
  event.set_name("waiting for hold");
  fit.add(batch);
  pendulum.play(0.0, 2.0, fit);
  EXPECT_EQ(fit.estimate().problem(), "the rig has not been released yet");
}

rigcal::v1::CheckLive make_check(const std::string& parameter, const std::string& unit) {
  rigcal::v1::CheckLive check;
  check.mutable_live()->set_rig_name("rig.textproto");
  check.mutable_live()->set_rig_text(pendulum_text());
  auto& target = *check.add_targets();
  target.set_parameter(parameter);
  target.set_half_width(0.1);
  target.set_unit(unit);
  return check;
}

// A wrong target must be found before the rig is driven, with the remedy.
TEST(LiveFitTest, DescribesRequestsThatItCannotFulfil) {
  EXPECT_EQ(find_live_problem(make_check("pendulum.J_zz", "%")), "");
  EXPECT_EQ(find_live_problem(make_check("pendulum.J_zz", "kg·m²")), "");
  EXPECT_NE(find_live_problem(make_check("pendulum.J_z", "%")).find("did you mean"),
            std::string::npos)
      << find_live_problem(make_check("pendulum.J_z", "%"));
  EXPECT_NE(find_live_problem(make_check("pendulum.m", "%")).find("write free: true"),
            std::string::npos)
      << find_live_problem(make_check("pendulum.m", "%"));
  EXPECT_NE(find_live_problem(make_check("pendulum.J_zz", "g")).find("is kg·m², not \"g\""),
            std::string::npos)
      << find_live_problem(make_check("pendulum.J_zz", "g"));
  rigcal::v1::CheckLive wrong = make_check("pendulum.J_zz", "%");
  wrong.mutable_live()->set_rig_text("bodyy { }");
  EXPECT_NE(find_live_problem(wrong).find("rig.textproto:1:1"), std::string::npos)
      << find_live_problem(wrong);
}

}  // namespace
}  // namespace service
