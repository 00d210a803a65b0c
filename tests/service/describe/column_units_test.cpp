#include "service/rig/init/column_units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kTurn = 2.0 * std::numbers::pi;

std::string reading_unit_in(const std::string& name) {
  const auto unit = find_reading_unit(name);
  return unit ? reading_unit_name(*unit) : "";
}

TEST(ColumnUnits, AreFoundInNames) {
  for (const auto& [name, unit] : {std::pair("theta_rad", "rad"),
                                   {"Winkel [°]", "deg"},
                                   {"theta_mrad", "mrad"},
                                   {"angle (gon)", "gon"},
                                   {"phi_arcmin", "arcmin"},
                                   {"position (rev)", "turn"},
                                   {"deg_encoder1", "deg"},
                                   {"encoder1", "count"},
                                   {"x_cm", "cm"},
                                   {"x [mm]", "mm"},
                                   {"cart (in)", "in"},
                                   {"cart_in", ""},
                                   {"travel_inch", "in"},
                                   {"x [µm]", "um"},
                                   {"theta", ""}}) {
    EXPECT_EQ(reading_unit_in(name), unit) << name;
  }
  for (const auto& [name, unit] : {std::pair("t_ms", "ms"),
                                   {"time [h]", "h"},
                                   {"t_min", "min"},
                                   {"elapsed days", "d"},
                                   {"micros", "us"},
                                   {"Time (ns)", "ns"}}) {
    const auto found = find_time_unit(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->name, unit) << name;
  }
}

TEST(ColumnUnits, OfUnknownMeaningAreRefused) {
  expect_parts(describe_unknown_unit("theta [foo]", "--angle-unit"),
               {"\"theta [foo]\" is in \"foo\"", "does not know", "--angle-unit"});
  expect_parts(describe_unknown_unit("winkel_grad", "--angle-unit"),
               {"\"grad\" can mean degrees or gon", "--angle-unit deg", "--angle-unit gon"});
  for (const char* name : {"theta (pendulum)", "theta [rad]", "data(:,1)", "q[2]", "t [ms]"}) {
    EXPECT_EQ(describe_unknown_unit(name, "--angle-unit"), "") << name;
  }
}

TEST(ColumnUnits, AreWrittenAsFieldsOfRigFiles) {
  EXPECT_EQ(reading_unit_field(ReadingUnit::kDegree), "unit: DEGREE");
  EXPECT_EQ(reading_unit_field(ReadingUnit::kCentimetre), "unit_m: 0.01");
  EXPECT_EQ(time_unit_field(parse_time_unit("ms")), "unit: MILLISECOND");
  EXPECT_EQ(time_unit_field(parse_time_unit("min")), "unit_s: 60");
  EXPECT_EQ(time_unit_field(parse_time_unit("13.9e-9")), "unit_s: 13.9e-9");
  EXPECT_DOUBLE_EQ(reading_unit_size(parse_reading_unit("gon"), 0.0), kTurn / 400.0);
  expect_parts(refusal([] { (void)parse_reading_unit("grad"); }), {"\"grad\"", "mrad", "cm"});
  for (const char* bad : {"", "x", "0", "-1", "inf", "nan", "1 s"}) {
    expect_parts(refusal([&] { (void)parse_time_unit(bad); }), {"not a valid unit of time", "ms"});
  }
}

/// Writes a cart-pole on a rail, with the position in a unit and the command in another.
std::string write_cart(const TemporaryFolder& folder, const std::string& position, double size,
                       const std::string& command) {
  std::ofstream out(folder.file("run.csv"));
  out << "t_s," << position << ",theta_rad," << command << '\n';
  for (int k = 0; k < 400; ++k) {
    const double t = 0.005 * k;
    out << t << ',' << 0.2 * std::sin(5.0 * t) / size << ',' << 0.3 * std::cos(7.0 * t) << ','
        << 800.0 * std::sin(5.0 * t) << '\n';
  }
  return folder.file("run.csv");
}

// Centimetres and inches were taken for metres or millimetres without a word.
TEST(ColumnUnits, OfACartAreRead) {
  for (const auto& [name, size, shown] : {std::tuple("x_cm", 0.01, "cm"),
                                          {"cart position (in)", 0.0254, "in"},
                                          {"x [mm]", 0.001, "mm"}}) {
    const TemporaryFolder folder;
    const std::string run = write_cart(folder, name, size, "u_mV");
    const std::string made = folder.file("rig.textproto");
    run_successfully("init --kind cart-pole --from " + run + " --out " + made,
                     {std::string(name) + ": position in " + shown, "u_mV: command in 0.001 V"});
    const Rig rig = load_rig(made);
    EXPECT_DOUBLE_EQ(rig.format->angles.at(0).scale, size);
    EXPECT_DOUBLE_EQ(rig.format->controls.at(0).scale, 1e-3);
    EXPECT_EQ(rig.format->controls.at(0).unit, "V");
  }
}

TEST(ColumnUnits, OfUnknownMeaningEndInit) {
  const TemporaryFolder folder;
  const std::string run = write_cart(folder, "x [furlong]", 1.0, "u_V");
  run_refused("init --kind cart-pole --from " + run + " --out " + folder.file("rig.textproto"),
              {"\"x [furlong]\" is in \"furlong\"", "--position-unit"});
}

TEST(RigRecording, ReadsAUnitByItsSize) {
  const TemporaryFolder folder;
  const auto rig_with = [&](const std::string& fields) {
    return parse_rig("rig.textproto", R"(
      body { name: "rod" mass { value: 1 }
        inertia { xx { value: 1 } yy { value: 1 } zz { value: 1 } } }
      joint { name: "a" parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
        child { body: "rod" axis { z: 1 } zero_direction { y: -1 } } encoder {} }
      recording { time { column: "t" )" + fields +
                                          " } }");
  };
  const Rig rig = rig_with("unit_s: 60 } angle { joint: \"a\" column: \"q\" unit_rad: 0.001");
  EXPECT_EQ(rig.format->time_scale, 60.0);
  EXPECT_EQ(rig.format->angles.at(0).scale, 0.001);
  const auto refused = [&](const std::string& fields) {
    return refusal([&] { (void)rig_with(fields); });
  };
  expect_parts(refused("unit: MILLISECOND unit_s: 60 } angle { joint: \"a\" column: \"q\""),
               {"unit_s", "second time"});
  expect_parts(refused("} angle { joint: \"a\" column: \"q\" unit: DEGREE unit_rad: 0.001"),
               {"unit_rad", "second time"});
  expect_parts(refused("} angle { joint: \"a\" column: \"q\""), {"no unit", "unit_rad"});
}

}  // namespace
}  // namespace service
