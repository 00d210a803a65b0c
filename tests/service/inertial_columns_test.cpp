#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/model/sensor.hpp"
#include "proto/rig.pb.h"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/joined_segments.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/evaluation_truth.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::Segment;
using rigcal::v1::InertialColumn;

constexpr double kGravity = 9.80665;  // [m/s²]
constexpr double kTurn = 2.0 * std::numbers::pi;

/// A pendulum with an encoder and two inertial sensors; the second measures rates only.
std::string rig_text(const std::string& columns) {
  return R"(
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { } }
inertial_sensor { name: "imu" body: "B"
  gyroscope { range_rad_per_s: 5 counts_per_rad_per_s: 2 }
  accelerometer { range_m_per_s2: 20 counts_per_m_per_s2: 4 } }
inertial_sensor { name: "gyro" body: "B" gyroscope { } }
recording { time { column: "t" } angle { joint: "1" column: "x" unit: RADIAN }
)" + columns +
         "\n}\n";
}

Rig make_rig(const std::string& columns) { return parse_rig("r.textproto", rig_text(columns)); }

std::string column(const std::string& sensor, const std::string& axis, const std::string& name,
                   const std::string& unit, const std::string& more = "") {
  return "inertial { sensor: \"" + sensor + "\" axis: " + axis + " column: \"" + name +
         "\" unit: " + unit + " " + more + " }\n";
}

using Cells = std::function<std::vector<std::string>(int row)>;

/// Rows at 100 Hz of a swing of 1 Hz, with further columns from `cells`.
std::string make_csv(const std::vector<std::string>& names, int rows, const Cells& cells) {
  std::ostringstream csv;
  csv.precision(12);
  csv << "t,x";
  for (const std::string& name : names) csv << ',' << name;
  csv << '\n';
  for (int k = 0; k < rows; ++k) {
    csv << 0.01 * k << ',' << 0.5 * std::sin(kTurn * 0.01 * k);
    for (const std::string& cell : cells(k)) csv << ',' << cell;
    csv << '\n';
  }
  return csv.str();
}

std::string cell_text(double value) {
  std::ostringstream text;
  text.precision(12);
  text << value;
  return text.str();
}

std::string notes_of(const ImportedRecording& imported) {
  std::string all;
  for (const std::string& note : describe_import(imported.summary)) all += note + "\n";
  return all;
}

/// Imports one column of readings; the segment's column is `index`.
ImportedRecording import_readings(const std::string& columns, int rows,
                                  const std::function<double(int)>& reading) {
  const Rig rig = make_rig(columns);
  const Cells cells = [&](int k) {
    const double value = reading(k);
    return std::vector{std::isnan(value) ? std::string() : cell_text(value)};
  };
  return import_csv_text("run.csv", make_csv({"a"}, rows, cells), *rig.format);
}

int missing_count(const Segment& segment, int index) {
  return static_cast<int>(segment.inertial.col(index).array().isNaN().count());
}

// Every unit of the schema is converted to SI. A new unit without a row here fails the test.
TEST(InertialColumns, EveryUnitIsReadInSi) {
  struct Expected {
    const char* axis;
    double si;  // value of a reading of 1.5
  };
  const std::map<std::string, Expected> units = {
      {"UNIT_UNSPECIFIED", {"", 0.0}},
      {"RADIAN_PER_SECOND", {"GYRO_X", 1.5}},
      {"DEGREE_PER_SECOND", {"GYRO_X", 1.5 * kTurn / 360.0}},
      {"METER_PER_SECOND_SQUARED", {"ACCEL_X", 1.5}},
      {"STANDARD_GRAVITY", {"ACCEL_X", 1.5 * kGravity}},
      {"COUNT", {"ACCEL_X", 1.5 / 4.0}}};
  ASSERT_EQ(static_cast<int>(units.size()), InertialColumn::Unit_descriptor()->value_count());
  for (const auto& [unit, expected] : units) {
    SCOPED_TRACE(unit);
    ASSERT_NE(InertialColumn::Unit_descriptor()->FindValueByName(unit), nullptr);
    if (expected.si == 0.0) continue;
    const auto read = [&](const std::string& more) {
      const ImportedRecording imported = import_readings(
          column("imu", expected.axis, "a", unit, more), 20, [](int k) { return k % 2 + 0.5; });
      return imported.recording.segments.at(0).inertial(1, expected.axis[0] == 'G' ? 0 : 3);
    };
    EXPECT_NEAR(read(""), expected.si, 1e-12);
    EXPECT_NEAR(read("inverted: true"), -expected.si, 1e-12);
  }
  const double rate =
      import_readings(column("imu", "GYRO_Z", "a", "COUNT"), 20, [](int k) { return k % 3; })
          .recording.segments.at(0)
          .inertial(2, 2);
  EXPECT_NEAR(rate, 1.0, 1e-12);  // two counts make one rad/s
}

// Catches axes or sensors that end up in another's column.
TEST(InertialColumns, EveryAxisHasItsOwnColumn) {
  const std::vector<std::string> axes = {"GYRO_X",  "GYRO_Y",  "GYRO_Z",
                                         "ACCEL_X", "ACCEL_Y", "ACCEL_Z"};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    SCOPED_TRACE(axes[i]);
    const std::string unit = i < 3 ? "RADIAN_PER_SECOND" : "METER_PER_SECOND_SQUARED";
    for (int sensor = 0; sensor < (i < 3 ? 2 : 1); ++sensor) {
      const ImportedRecording imported =
          import_readings(column(sensor == 0 ? "imu" : "gyro", axes[i], "a", unit), 20,
                          [](int k) { return 0.1 * k; });
      const Segment& segment = imported.recording.segments.at(0);
      ASSERT_EQ(segment.inertial.rows(), 20);
      ASSERT_EQ(segment.inertial.cols(), 12);
      for (int index = 0; index < 12; ++index) {
        const bool is_own = index == 6 * sensor + static_cast<int>(i);
        EXPECT_EQ(missing_count(segment, index), is_own ? 0 : 20) << index;
      }
      EXPECT_NEAR(segment.inertial(7, 6 * sensor + static_cast<int>(i)), 0.7, 1e-12);
    }
  }
}

// If the recordings lack the sensors, the rig imports as before, with a note.
TEST(InertialColumns, WithoutColumnsNothingIsRead) {
  const Rig rig = make_rig("");
  const ImportedRecording imported = import_csv_text(
      "run.csv", make_csv({}, 20, [](int) { return std::vector<std::string>(); }), *rig.format);
  EXPECT_EQ(imported.recording.segments.at(0).inertial.size(), 0);
  expect_parts(notes_of(imported), {"sensor \"imu\" has no column", "\"gyro\" has no column"});
}

// A sensor with its own rate: every third row has a reading, and none is added.
TEST(InertialColumns, MissingCellsAreNotObserved) {
  const ImportedRecording imported =
      import_readings(column("imu", "GYRO_Z", "a", "RADIAN_PER_SECOND"), 30,
                      [](int k) { return k % 3 == 0 ? 0.1 * k : NAN; });
  const Segment& segment = imported.recording.segments.at(0);
  for (int k = 0; k < 30; ++k) {
    EXPECT_EQ(std::isnan(segment.inertial(k, 2)), k % 3 != 0) << k;
  }
  expect_parts(notes_of(imported), {"column \"a\" has readings in 10 of 30 rows"});
}

// Filled-in rows have no sensor readings, and later rows keep their place. Parts contain
// their own readings.
TEST(InertialColumns, GapsAndPiecesKeepReadings) {
  const Rig rig = make_rig(column("imu", "GYRO_Z", "a", "RADIAN_PER_SECOND"));
  std::ostringstream csv;
  csv.precision(12);
  csv << "t,x,a\n";
  for (int k = 0; k < 60; ++k) {
    if (k == 30 || k == 31) continue;
    csv << 0.01 * k << ',' << std::sin(0.1 * k) << ',' << 0.01 * k << '\n';
  }
  const ImportedRecording imported = import_csv_text("run.csv", csv.str(), *rig.format);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const Segment& whole = imported.recording.segments[0];
  for (int k = 0; k < 60; ++k) {
    if (k == 30 || k == 31) {
      EXPECT_TRUE(std::isnan(whole.inertial(k, 2)));
    } else {
      EXPECT_NEAR(whole.inertial(k, 2), 0.01 * k, 1e-12);
    }
  }
  std::vector<Segment> parts = {segment_rows(whole, 0, 25), segment_rows(whole, 28, 32)};
  EXPECT_NEAR(parts[1].inertial(4, 2), 0.32, 1e-12);
  EXPECT_EQ(join_segments_across_gaps(parts).rows, 3);
  ASSERT_EQ(parts.size(), 1U);
  ASSERT_EQ(parts[0].inertial.rows(), 60);
  for (const int k : {25, 26, 27}) EXPECT_TRUE(parts[0].inertial.row(k).array().isNaN().all());
  EXPECT_NEAR(parts[0].inertial(59, 2), 0.59, 1e-12);
}

double swing(int k) { return std::sin(kTurn * 0.01 * k); }

// Both ends of the stated range, for both instruments; also in counts, where the last positive one
// does not exist.
TEST(InertialColumns, ReadingsBeyondTheStatedRangeAreNotUsed) {
  for (const bool turns : {true, false}) {
    SCOPED_TRACE(turns);
    const double range = turns ? 5.0 : 20.0;
    const auto clipped = [&](int k) {
      return std::clamp(1.5 * range * swing(k), -range, range * 2047.0 / 2048.0);
    };
    const ImportedRecording imported =
        import_readings(column("imu", turns ? "GYRO_Z" : "ACCEL_X", "a",
                               turns ? "RADIAN_PER_SECOND" : "METER_PER_SECOND_SQUARED"),
                        200, clipped);
    const Segment& segment = imported.recording.segments.at(0);
    const int index = turns ? 2 : 3;
    int beyond = 0;
    for (int k = 0; k < 200; ++k) {
      const bool is_beyond = std::abs(1.5 * range * swing(k)) >= range;
      beyond += is_beyond;
      EXPECT_EQ(std::isnan(segment.inertial(k, index)), is_beyond) << k;
    }
    EXPECT_GT(beyond, 20);
    expect_parts(notes_of(imported), {"saturated in " + std::to_string(beyond) + " rows"});
  }
}

// Without a stated range, readings are not used if they stay at the extreme while the rig moves.
// Similar cases must be kept: the flat top of a coarsely quantized swing, a sensor that rests at
// its extreme with the rig, one that repeats each reading for some rows.
TEST(InertialColumns, ClippedExtremesAreNotUsed) {
  struct Case {
    const char* what;
    std::function<double(int)> reading;
    int dropped;
  };
  const auto clip = [](int k) { return std::min(swing(k), 0.8); };
  int clipped = 0;
  for (int k = 0; k < 200; ++k) clipped += swing(k) >= 0.8;
  const Case cases[] = {
      {"clipped above", clip, clipped},
      {"clipped below", [&](int k) { return -clip(k); }, clipped},
      {"quantized", [](int k) { return std::round(64.0 * swing(k)) / 64.0; }, 0},
      {"held readings", [](int k) { return swing(k - k % 10); }, 0},
      {"zero as its least", [](int k) { return std::max(swing(k), 0.0); }, 0},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const ImportedRecording imported =
        import_readings(column("gyro", "GYRO_Z", "a", "RADIAN_PER_SECOND"), 200, each.reading);
    EXPECT_EQ(missing_count(imported.recording.segments.at(0), 8), each.dropped);
  }
  const Rig rig = make_rig(column("gyro", "GYRO_Z", "a", "RADIAN_PER_SECOND"));
  std::ostringstream rests;
  rests.precision(12);
  rests << "t,x,a\n";
  for (int k = 0; k < 200; ++k) {
    const int phase = k < 80 ? k : std::max(80, k - 60);  // 60 rows at rest
    rests << 0.01 * k << ',' << swing(phase) << ','
          << std::min(1.0, 0.01 * phase + 0.2) - (phase > 80 ? 0.01 * (phase - 80) : 0.0) << '\n';
  }
  const ImportedRecording imported = import_csv_text("run.csv", rests.str(), *rig.format);
  EXPECT_EQ(missing_count(imported.recording.segments.at(0), 8), 0) << "rests";
}

// Catches an accelerometer in g that is declared in m/s² and the reverse, in any orientation. One
// that measures only a level plane contains no information about gravity.
TEST(InertialColumns, AccelerometerInAnotherUnitIsRefused) {
  const std::vector<std::string> names = {"ax", "ay", "az"};
  const auto import = [&](const std::string& unit, double gravity, int axes) {
    std::string columns;
    for (int i = 0; i < axes; ++i) {
      columns +=
          column("imu", std::string("ACCEL_") + "XYZ"[i], names[static_cast<std::size_t>(i)], unit);
    }
    const Rig rig = make_rig(columns);
    const Cells cells = [&](int k) {
      const double angle = 0.5 * swing(k) + 0.7;
      return std::vector{cell_text(gravity * std::sin(angle)),
                         cell_text(0.6 * gravity * std::cos(angle)),
                         cell_text(-0.8 * gravity * std::cos(angle))};
    };
    return import_csv_text("run.csv", make_csv(names, 100, cells), *rig.format);
  };
  const std::string si = "METER_PER_SECOND_SQUARED";
  EXPECT_EQ(import(si, kGravity, 3).recording.segments.size(), 1U);
  EXPECT_EQ(import("STANDARD_GRAVITY", 1.0, 3).recording.segments.size(), 1U);
  EXPECT_EQ(import(si, 1.0, 2).recording.segments.size(), 1U);
  expect_parts(refusal([&] { (void)import(si, 1.0, 3); }),
               {"r.textproto:", "\"imu\" in run.csv", "in g", "unit: STANDARD_GRAVITY"});
  expect_parts(refusal([&] { (void)import("STANDARD_GRAVITY", kGravity, 3); }),
               {"\"imu\" in run.csv", "in m/s²", "unit: METER_PER_SECOND_SQUARED"});
}

TEST(InertialColumns, GyroscopeInDegreesIsRefused) {
  const auto fast = [](int k) { return 300.0 * std::cos(kTurn * 0.01 * k); };
  expect_parts(refusal([&] {
                 (void)import_readings(column("gyro", "GYRO_Z", "a", "RADIAN_PER_SECOND"), 100,
                                       fast);
               }),
               {"r.textproto:", "column \"a\" in run.csv", "unit: DEGREE_PER_SECOND"});
  EXPECT_EQ(import_readings(column("gyro", "GYRO_Z", "a", "DEGREE_PER_SECOND"), 100, fast)
                .recording.segments.size(),
            1U);
}

TEST(InertialColumns, SilentSensorIsReported) {
  const std::string columns = column("imu", "GYRO_Z", "a", "RADIAN_PER_SECOND");
  expect_parts(notes_of(import_readings(columns, 20, [](int) { return 0.5; })),
               {"warning: column \"a\" never changes", "\"imu\" connected"});
  expect_parts(notes_of(import_readings(columns, 20, [](int) { return NAN; })),
               {"warning: column \"a\" is empty", "\"imu\" connected"});
}

// Each mistake in a rig file has its own sentence, with line and remedy.
TEST(InertialColumns, MistakesAreReported) {
  const std::string good = column("imu", "GYRO_X", "a", "RADIAN_PER_SECOND");
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {column("imo", "GYRO_X", "a", "RADIAN_PER_SECOND"),
       {"r.textproto:13:", "no inertial sensor is called \"imo\"", "use one of imu gyro"}},
      {good + column("imu", "GYRO_X", "b", "RADIAN_PER_SECOND"),
       {"r.textproto:14:", "GYRO_X of inertial sensor \"imu\" has two columns", "keep one"}},
      {good + column("imu", "GYRO_Y", "a", "RADIAN_PER_SECOND"),
       {"r.textproto:14:", "column \"a\" is used for two axes"}},
      {column("imu", "GYRO_X", "a", "STANDARD_GRAVITY"),
       {"no gyroscope measures", "RADIAN_PER_SECOND, DEGREE_PER_SECOND or COUNT"}},
      {column("imu", "ACCEL_X", "a", "DEGREE_PER_SECOND"),
       {"no accelerometer measures", "METER_PER_SECOND_SQUARED, STANDARD_GRAVITY or COUNT"}},
      {column("gyro", "ACCEL_X", "a", "STANDARD_GRAVITY"),
       {"\"gyro\" has no accelerometer", "add accelerometer { }"}},
      {column("gyro", "GYRO_X", "a", "COUNT"), {"counts_per_rad_per_s", "gyroscope", "\"gyro\""}},
      {"inertial { sensor: \"imu\" axis: GYRO_X column: \"a\" }", {"has no unit", "Write unit:"}},
      {"inertial { sensor: \"imu\" axis: GYRO_X unit: COUNT }", {"needs the column's name"}},
      {"inertial { sensor: \"imu\" column: \"a\" unit: COUNT }",
       {"not an axis of an inertial sensor", "ACCEL_Z"}},
      {"inertial { sensor: \"imu\" axis: 9 column: \"a\" unit: COUNT }",
       {"not an axis of an inertial sensor"}},
      {"inertial { axis: GYRO_X column: \"a\" unit: COUNT }", {"is called \"\"", "use one of"}},
  };
  for (const auto& [columns, parts] : cases) {
    SCOPED_TRACE(columns);
    expect_parts(refusal([&] { (void)make_rig(columns); }), parts);
  }
}

/// The column message that has an axis of this name, or nullptr.
const google::protobuf::Descriptor* column_of_axis(std::string axis) {
  for (char& c : axis) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const auto* column :
       {InertialColumn::descriptor(), rigcal::v1::ForceTorqueColumn::descriptor(),
        rigcal::v1::PositionSensorColumn::descriptor()}) {
    if (column->FindEnumTypeByName("Axis")->FindValueByName(axis) != nullptr) return column;
  }
  return nullptr;
}

// A table entry that the schema lacks would leave an axis that no rig file can name. A row in
// another position than its name would silently be read as another kind if assertions are off.
TEST(SensorKinds, AreInOrderAndUseTheSchemasNames) {
  for (const estimator::MeasuredQuantityTraits& row : estimator::kReadingKinds) {
    EXPECT_EQ(measured_quantity_traits(row.reading).reading, row.reading) << row.unit();
  }
  for (const estimator::SensorTraits& row : estimator::kSensorKinds) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(sensor_traits(row.kind).kind, row.kind);
    const google::protobuf::Descriptor* const first = column_of_axis(row.instruments[0].axes[0]);
    ASSERT_NE(first, nullptr);
    for (const estimator::Instrument& each : row.instruments) {
      const estimator::MeasuredQuantityTraits& reading = measured_quantity_traits(each.reads);
      for (int axis = 0; axis < each.axis_count; ++axis) {
        EXPECT_EQ(column_of_axis(each.axes[axis]), first) << each.axes[axis];
      }
      for (const auto& units :
           {reading.units, measured_quantity_traits(reading.prismatic_reading).units}) {
        for (const estimator::MeasurementUnit& unit : units) {
          if (unit.word == nullptr) continue;
          EXPECT_NE(first->FindEnumTypeByName("Unit")->FindValueByName(unit.word), nullptr)
              << unit.word;
        }
      }
    }
  }
}

// The file of the evaluation data has these columns; each must reach its sensor.
TEST(InertialColumns, ChainOfThreeReadsItsSensors) {
  const Rig rig = load_rig(source_folder() + "/configs/rig-chain3imu.textproto");
  std::ostringstream csv;
  csv << "t_s,h1_rad,h2_rad,h3_rad,imu1_gyro_rad_s,imu1_ax_m_s2,imu1_ay_m_s2,imu2_gyro_rad_s,"
         "imu2_ax_m_s2,imu2_ay_m_s2,imu3_gyro_rad_s,imu3_ax_m_s2,imu3_ay_m_s2,u0\n";
  for (int k = 0; k < 20; ++k) {
    csv << 1e-3 * k;
    for (int c = 1; c <= 13; ++c) csv << ',' << c + 1e-3 * k;
    csv << '\n';
  }
  const ImportedRecording imported = import_csv_text("run.csv", csv.str(), *rig.format);
  const Segment& segment = imported.recording.segments.at(0);
  ASSERT_EQ(segment.inertial.cols(), 18);
  for (int sensor = 0; sensor < 3; ++sensor) {
    for (int k = 0; k < 3; ++k) {  // z of the rate, then x and y of the specific force
      EXPECT_NEAR(segment.inertial(5, 6 * sensor + 2 + k), 4 + 3 * sensor + k + 5e-3, 1e-9);
    }
  }
}

// Inertial sensors, from rig file and recording to estimates, checked with independent data.

// Three links, the first with an encoder. Three sensors of unknown place, mounting and biases
// determine the others' motion, to the noise of the unused encoders, and every constant is within
// its standard deviation. The initial state is not given.
TEST(ChainOfSensors, InertialSensorsReplaceEncoders) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const double counts = 2.0 * M_PI / 4096 / std::sqrt(12.0);
  for (const auto& [variant, noise] : {std::pair{"noise", 1e-3}, std::pair{"quant", counts}}) {
    for (const std::string set : {"chain3imu_base", "chain3imu_rand1"}) {
      SCOPED_TRACE(set + " " + variant);
      const auto truth = true_parameters(*data, set);
      Rig rig = load_rig(source_folder() + "/configs/rig-chain3imu.textproto");
      for (const char* const mass : {"link1.m", "link2.m", "link3.m"}) {
        parameter_of(rig.mechanism, mass).value = truth.at(mass);
      }
      rig.mechanism.held_out = {"h2", "h3"};
      const std::filesystem::path file =
          *data / "synthetic_planar" / (set + "__" + variant + ".csv");
      const estimator::Calibration result =
          estimator::calibrate(rig.mechanism, {import_csv(file.string(), *rig.format).recording});
      EXPECT_TRUE(result.converged());
      ASSERT_EQ(result.held_out.size(), 2U);
      for (const estimator::HeldOutSensor& sensor : result.held_out) {
        EXPECT_LT(sensor.rmse, 1.1 * noise) << sensor.name;
      }
      EXPECT_EQ(result.parameters.size(), 28U);
      for (const estimator::ParameterEstimate& estimate : result.parameters) {
        EXPECT_LT(std::abs(estimate.value - truth.at(estimate.name)),
                  3.0 * estimate.standard_deviation)
            << estimate.name;
      }
    }
  }
}

}  // namespace
}  // namespace service
