#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "estimator/calibrate/cross_validation.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/cli/page_files.hpp"
#include "service/messages/parameter_meaning.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/recording_sections.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/prepared_calibration.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A calibration of configs/rig-furuta.textproto with a friction and a tilt.
estimator::Calibration furuta_calibration() {
  estimator::Calibration calibration = prepared_calibration();
  calibration.mechanism = load_rig(config("rig-furuta.textproto")).mechanism;
  calibration.parameters[0].name = "1.tau_c";
  calibration.parameters[1].name = "gravity.tilt_x";
  return calibration;
}

/// Sets PATH for the lifetime of this object.
class ProgramFolder {
 public:
  explicit ProgramFolder(const std::string& folder) : before_(std::getenv("PATH")) {
    ::setenv("PATH", folder.c_str(), 1);
  }
  ~ProgramFolder() { ::setenv("PATH", before_.c_str(), 1); }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

 private:
  std::string before_;
};

void write_program(const TemporaryFolder& folder, const std::string& name,
                   const std::string& script) {
  folder.write(name, "#!/bin/sh\n" + script);
  std::filesystem::permissions(folder.file(name), std::filesystem::perms::owner_all);
}

// Every parameter that rigcal names itself has words, and these contain the owner's name.
TEST(ParameterMeaning, ExplainsEveryParameterOfTheConfigs) {
  for (const auto& entry : std::filesystem::directory_iterator(config(""))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("rig-")) continue;
    const Rig rig = load_rig(entry.path().string());
    for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
      const std::string words = describe_parameter(rig.mechanism, parameter.name);
      if (parameter.name.find('.') == std::string::npos) continue;  // a quantity { } of the file
      EXPECT_FALSE(words.empty()) << file << ": " << parameter.name;
      EXPECT_EQ(words.find('{'), std::string::npos) << words;
    }
  }
}

TEST(ParameterMeaning, NamesJointsBodiesEncodersAndGravity) {
  const estimator::Mechanism mechanism = load_rig(config("rig-furuta.textproto")).mechanism;
  EXPECT_EQ(describe_parameter(mechanism, "1.tau_c"), "Coulomb friction of joint 1");
  EXPECT_EQ(describe_parameter(mechanism, "B.J_zz"),
            "moment of inertia of body B about its z axis");
  EXPECT_EQ(describe_parameter(mechanism, "2.offset"),
            "joint position at which encoder 2 reads zero");
  EXPECT_EQ(describe_parameter(mechanism, "gravity.tilt_x"), "tilt of the rig about the x axis");
}

// Without k_e, gain times back EMF acts as viscous friction. A current or torque has no back EMF,
// and neither has a joint without a motor.
TEST(ParameterMeaning, IncludesUnmodelledBackEmfInViscousFriction) {
  const std::string emf = "back EMF";
  estimator::Mechanism mechanism = load_rig(config("rig-furuta.textproto")).mechanism;
  using estimator::JointParameter;
  EXPECT_NE(describe_parameter(mechanism, "1.b").find(emf), std::string::npos);
  EXPECT_EQ(describe_parameter(mechanism, "1.b").find("viscous friction of joint 1"), 0U);
  EXPECT_EQ(describe_parameter(mechanism, "2.b"), "viscous friction of joint 2");
  estimator::Parameter& gain = mechanism.joint_parameter(0, JointParameter::kMotorGain);
  ASSERT_EQ(gain.unit, "N·m/V");
  for (const char* unit : {"N·m/A", "N·m/N·m"}) {
    gain.unit = unit;
    EXPECT_EQ(describe_parameter(mechanism, "1.b").find(emf), std::string::npos) << unit;
  }
  gain.unit = "N·m/duty";
  EXPECT_NE(describe_parameter(mechanism, "1.b").find(emf), std::string::npos);
  estimator::Parameter& back_emf = mechanism.joint_parameter(0, JointParameter::kBackEmf);
  back_emf.value = 0.05;
  EXPECT_EQ(describe_parameter(mechanism, "1.b").find(emf), std::string::npos);
  back_emf.value = 0.0;
  back_emf.free = true;
  EXPECT_EQ(describe_parameter(mechanism, "1.b").find(emf), std::string::npos);
}

// Names are explained as tooltips and in a legend; names without a meaning stay as they are.
TEST(CalibrationPage, ExplainsParameterNames) {
  expect_parts(render_calibration_page(furuta_calibration(), prepared_context()),
               {"<abbr title=\"Coulomb friction of joint 1\">1.tau_c</abbr>",
                "<li><b>1.tau_c</b>: Coulomb friction of joint 1</li>",
                "<li><b>gravity.tilt_x</b>: tilt of the rig about the x axis</li>"});
  expect_absent(render_calibration_page(prepared_calibration(), prepared_context()),
                {"<abbr title", "<ul class=\"names\">", "Rig and parameter names"});
}

// The drawing needs the rig file; a result without it has a page, too.
TEST(CalibrationPage, DrawsTheRigOnItsFirstPage) {
  CalibrationMetadata context = prepared_context();
  expect_absent(render_calibration_page(furuta_calibration(), context), {"data:image/svg+xml"});
  context.request.rig_name = "rig-furuta.textproto";
  context.request.rig_text = contents_of(config("rig-furuta.textproto"));
  const std::string page = render_calibration_page(furuta_calibration(), context);
  const std::size_t first = page.find("<div class=\"first-page\">");
  const std::size_t drawing = page.find("data:image/svg+xml;base64,");
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(drawing, std::string::npos);
  EXPECT_LT(first, drawing);
  EXPECT_LT(page.find("<h2>Parameters</h2>"), drawing);
  EXPECT_LT(drawing, page.find(">Trajectories</h2>"));
}

// A printed first page names its input files; many recordings are counted.
TEST(CalibrationPage, NamesItsInputFiles) {
  CalibrationMetadata context = prepared_context();
  context.request.rig_name = "rigs/pendulum.textproto";
  expect_parts(render_calibration_page(prepared_calibration(), context),
               {"From run &amp; more.csv, with the rig file pendulum.textproto</p>"});
  context.recordings.resize(6, context.recordings[0]);
  expect_parts(render_calibration_page(prepared_calibration(), context),
               {"run &amp; more.csv and 2 more, with"});
}

/// A recording of encoder 1 with a rest from 1 s to 3 s and a spike at 4 s.
estimator::Recording rest_with_spike() {
  estimator::Segment segment;
  segment.period = 0.5;
  segment.angles = Eigen::VectorXd::LinSpaced(11, 0.0, 1.0).replicate(1, 2);
  segment.angles.col(0).segment(2, 5).setConstant(0.2);
  segment.angles(8, 0) = 9.0;
  segment.controls.resize(11, 0);
  return {"run.csv", {segment}};
}

// Thinned readings of a rest are measured values; a spike is a faulty sample.
TEST(RejectedReadings, AreFaultyUnlessTheyRepeatOthers) {
  const estimator::Mechanism mechanism = load_rig(config("rig-furuta.textproto")).mechanism;
  const estimator::Recording read = rest_with_spike();
  estimator::Recording repaired = read;
  for (const int row : {4, 8}) repaired.segments[0].angles(row, 0) = kNaN;
  estimator::Finding rest =
      estimator::make_finding(estimator::MessageCode::kRestIntervals, "run.csv", "1");
  estimator::set_time_intervals({{1.0, 3.0}}, rest);
  const auto rejected = find_rejected_readings({read}, {repaired}, mechanism, {rest});
  ASSERT_EQ(rejected.size(), 2U);
  EXPECT_TRUE(rejected[0].is_repetition);
  EXPECT_FALSE(rejected[1].is_repetition);
  rest.channel = "2";  // the rest of another encoder
  EXPECT_FALSE(find_rejected_readings({read}, {repaired}, mechanism, {rest})[0].is_repetition);

  std::vector<double> times, measured;
  for (int k = 0; k < 11; ++k) {
    times.push_back(0.5 * k);
    measured.push_back(repaired.segments[0].angles(k, 0));
  }
  const std::vector<double> faulty = find_faulty_samples(times, rejected, "run.csv", 0, measured);
  EXPECT_EQ(measured[4], 0.2);
  EXPECT_TRUE(std::isnan(measured[8]));
  ASSERT_EQ(faulty.size(), times.size());
  EXPECT_TRUE(std::isnan(faulty[4]));
  EXPECT_EQ(faulty[8], 9.0);
}

// A slow sensor repeats its last reading; another value is no repetition.
TEST(RejectedReadings, OfASlowSensorEqualTheReadingBefore) {
  const estimator::Mechanism mechanism = load_rig(config("rig-furuta.textproto")).mechanism;
  const estimator::Recording read = rest_with_spike();
  estimator::Recording repaired = read;
  for (const int row : {4, 8}) repaired.segments[0].angles(row, 0) = kNaN;
  const estimator::Finding slow =
      estimator::make_finding(estimator::MessageCode::kRepeatedReadings, "run.csv", "1");
  const auto rejected = find_rejected_readings({read}, {repaired}, mechanism, {slow});
  ASSERT_EQ(rejected.size(), 2U);
  EXPECT_TRUE(rejected[0].is_repetition);
  EXPECT_FALSE(rejected[1].is_repetition);
}

/// Three folds with the estimates 1, 2 and 9. The last fold identifies the parameter or not.
estimator::CrossValidation three_folds(bool is_identified) {
  estimator::CrossValidation validation;
  validation.parts = {"a.csv", "b.csv", "c.csv"};
  for (const double value : {1.0, 2.0, 9.0}) {
    estimator::CrossValidationFold& fold = validation.folds.emplace_back();
    const bool is_unknown = value == 9.0 && !is_identified;
    fold.calibration.parameters = {{"1.K", "N·m/V", value, is_unknown ? kInfinity : 0.1}};
  }
  validation.observation = Eigen::MatrixXd::Zero(3, 3);
  validation.parameters = estimator::compute_parameter_spreads(validation.folds);
  return validation;
}

TEST(CrossValidation, MarksParametersThatAFoldCannotIdentify) {
  const estimator::CrossValidation some = three_folds(false);
  EXPECT_EQ(some.parameters[0].unidentified, std::vector<int>{2});
  EXPECT_DOUBLE_EQ(some.parameters[0].mean, 1.5);
  EXPECT_TRUE(std::isnan(some.parameters[0].standard_deviation));
  EXPECT_DOUBLE_EQ(some.parameters[0].reported_standard_deviation, 0.1);
  expect_parts(format_cross_validation(some, 1.0, {}), {"not identifiable without c.csv"});
  EXPECT_EQ(count_of(render_cross_validation_sections(some), ">not identifiable</td>"), 1);

  const estimator::CrossValidation all = three_folds(true);
  EXPECT_TRUE(all.parameters[0].unidentified.empty());
  EXPECT_DOUBLE_EQ(all.parameters[0].mean, 4.0);
  // √(2/3 (3² + 2² + 5²)), of the deviations from the mean.
  EXPECT_DOUBLE_EQ(all.parameters[0].standard_deviation, std::sqrt(2.0 / 3.0 * 38.0));
  expect_absent(format_cross_validation(all, 1.0, {}), {"not identifiable"});
}

// Without Chromium, a PDF report is refused before the calibration, with the package to install.
TEST(PageFiles, NameTheMissingProgram) {
  const TemporaryFolder folder;
  const ProgramFolder none(folder.file(""));
  expect_parts(refusal([] { check_report_file("report.pdf"); }),
               {"report.pdf", "apt install chromium", ".html"});
  expect_parts(refusal([] { check_picture_path("rig.png"); }),
               {"rig.png", "apt install librsvg2-bin", ".svg"});
  expect_parts(refusal([] { check_report_file("report.png"); }), {".html or .htm or .pdf"});
  check_report_file("report.html");
  check_picture_path("rig.svg");
  write_program(folder, "chromium", "");
  check_report_file("report.pdf");
}

// A conversion that fails loses nothing.
TEST(PageFiles, KeepTheContentIfTheProgramFails) {
  const TemporaryFolder folder;
  const ProgramFolder with_fake(folder.file("") + ":/usr/bin:/bin");
  write_program(folder, "rsvg-convert", "while [ \"$1\" != --output ]; do shift; done; cp $3 $2");
  write_picture_file(folder.file("rig.png"), "<svg/>");
  EXPECT_EQ(contents_of(folder.file("rig.png")), "<svg/>");
  write_program(folder, "rsvg-convert", "exit 3");
  expect_parts(refusal([&] { write_picture_file(folder.file("bad.png"), "<svg>2</svg>"); }),
               {"bad.png", "failed (status 3)", "bad.png.svg"});
  EXPECT_EQ(contents_of(folder.file("bad.png.svg")), "<svg>2</svg>");
  EXPECT_FALSE(std::filesystem::exists(folder.file("bad.png")));
}

TEST(PageFiles, PrintReportsWithChromium) {
  const TemporaryFolder folder;
  try {
    check_report_file("report.pdf");
  } catch (const proto::InputError& missing) {
    GTEST_SKIP() << missing.what();
  }
  write_report_file(folder.file("report.pdf"),
                    render_calibration_page(furuta_calibration(), prepared_context()));
  EXPECT_TRUE(contents_of(folder.file("report.pdf")).starts_with("%PDF-"));
}

}  // namespace
}  // namespace service
