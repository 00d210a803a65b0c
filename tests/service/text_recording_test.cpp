// Text files as newcomers bring them: init describes their columns, and they import as if they were
// plain CSV.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "service/recordings/formats/recording_file.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// Writes a rig file for a recording with `rigcal init` and imports the recording with it.
ImportedRecording init_and_import(const TemporaryFolder& folder, const std::string& recording,
                                  const std::string& options,
                                  const std::vector<std::string>& said = {}) {
  const std::string rig = folder.file("rig.textproto");
  run_successfully("init --force --kind pendulum --zero hanging --from " + recording + " --out " +
                       rig + " " + options,
                   said);
  return import_recording(recording, load_rig(rig));
}

// The files of the field reports contain the same swing in different dialects.
TEST(TextRecording, DialectsOfFieldReportsContainTheSameSwing) {
  const auto data = find_evaluation_data();
  if (!data || !exists(*data / "field_reports")) GTEST_SKIP() << "no shared/data/field_reports";
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (*data / "field_reports" / name).string(); };
  const estimator::Segment plain =
      init_and_import(folder, file("plain.csv"), "").recording.segments.at(0);
  const struct {
    const char *name, *options;
    std::vector<std::string> said;
  } dialects[] = {
      {"savetxt.txt", "--columns t,theta", {"blanks between cells", "named as given"}},
      {"savetxt.txt", "--time 1 --angle 2", {"no header line"}},
      {"comment_head.csv", "", {}},
      {"excel_de.csv", "", {"semicolons", "decimal commas"}},
      {"quoted.csv", "", {}},
      {"iso.csv", "", {"dates in seconds", "cut off"}},
      {"us_epoch_ns.csv", "", {}},
  };
  for (const auto& dialect : dialects) {
    SCOPED_TRACE(dialect.name);
    const ImportedRecording imported =
        init_and_import(folder, file(dialect.name), dialect.options, dialect.said);
    const estimator::Segment& segment = imported.recording.segments.at(0);
    EXPECT_NEAR(imported.summary.period, 0.005, 1e-9);
    EXPECT_NEAR(segment.start, 0.0, 1e-6);  // dates resolve 0.24 µs
    ASSERT_LE(segment.sample_count(), plain.sample_count());
    // Half of the last of six decimals of a radian, and of four of a degree.
    const double rounding = 1.5e-6;
    const auto rows = segment.angles.rows();
    EXPECT_LT((segment.angles - plain.angles.topRows(rows)).cwiseAbs().maxCoeff(), rounding);
  }
}

// Readings of a bus that failed are −1 in two rows each.
TEST(TextRecording, SpikesOfFieldReportsAreImported) {
  const auto data = find_evaluation_data();
  if (!data || !exists(*data / "field_reports")) GTEST_SKIP() << "no shared/data/field_reports";
  const TemporaryFolder folder;
  const std::string file = (*data / "field_reports/spikes2.csv").string();
  const estimator::Segment segment = init_and_import(folder, file, "").recording.segments.at(0);
  EXPECT_EQ(segment.angles(277, 0), -1.0);
}

TEST(TextRecording, ColumnNamesAreForFilesWithoutHeader) {
  const TemporaryFolder folder;
  std::ostringstream rows;
  for (int k = 0; k < 300; ++k) rows << 5 * k << '\t' << 0.3 * std::cos(0.06 * k) << '\n';
  const std::string bare = folder.write("bare.txt", rows.str());
  const std::string named = folder.write("named.txt", "ms\tphi\n" + rows.str());
  const std::string options = "--columns t_ms,theta_rad";
  EXPECT_NEAR(init_and_import(folder, bare, options).summary.period, 0.005, 1e-12);
  expect_parts(contents_of(folder.file("rig.textproto")),
               {"columns: \"t_ms\"", "columns: \"theta_rad\"", "unit: MILLISECOND"});
  run_refused("init --force --kind pendulum --from " + named + " --out " +
                  folder.file("other.textproto") + " " + options,
              {"--columns", "named.txt names its columns itself", "\"ms\", \"phi\""});
}

// With decimal commas and commas between cells, rows have twice as many cells as the header. init
// gives this reason.
TEST(TextRecording, ExplainsDecimalCommasBetweenCommas) {
  const TemporaryFolder folder;
  std::ostringstream text;
  text << "t,theta\n";
  const auto with_comma = [](double value) {
    std::string number = std::to_string(value);
    number.replace(number.find('.'), 1, ",");
    return number;
  };
  for (int k = 0; k < 300; ++k) {
    text << with_comma(0.005 * k) << ',' << with_comma(0.3 * std::cos(0.06 * k)) << '\n';
  }
  const std::string file = folder.write("commas.csv", text.str());
  run_refused("init --kind pendulum --from " + file + " --out " + folder.file("rig.textproto"),
              {"no time column found", "line 1 has 2 cells, but the rows have 4",
               "with decimal commas", "separate cells by semicolons"});
}

// What cannot be read before --from does not matter.
TEST(TextRecording, FromAndToApplyBeforeRowsAreJudged) {
  const TemporaryFolder folder;
  std::ostringstream text;
  text << "t_s,theta_rad\n0,\n0.005,error\n";
  for (int k = 2; k < 600; ++k) text << 0.005 * k << ',' << 0.3 * std::cos(0.06 * k) << '\n';
  const std::string run = folder.write("run.csv", text.str());
  const Rig rig = [&] {
    const std::string file = folder.file("rig.textproto");
    run_successfully("init --kind pendulum --time t_s --angle theta_rad --out " + file);
    return load_rig(file);
  }();
  expect_parts(refusal([&] { (void)import_recording(run, rig); }), {"run.csv:2:2"});
  EXPECT_EQ(import_recording(run, rig, {.from = 0.01}).summary.rows, 598);
}

}  // namespace
}  // namespace service
