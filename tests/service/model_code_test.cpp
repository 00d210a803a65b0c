#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "proto/text/files.hpp"
#include "service/rig/code/model_export.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::JointVector;

/// A pendulum of 0.4 kg with Coulomb friction of 0.1 N·m, which holds it up to 14.7°, and a motor.
const std::string kPendulum = R"(name: "dry pendulum"
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 free: true } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 } coulomb_torque { value: 0.1 } }
  motor { control_unit: "A" gain { value: 0.5 } input_delay { value: 0.0105 } }
  encoder { } })";

Rig rig_of(const std::string& name) {
  return load_rig(source_folder() + "/configs/rig-" + name + ".textproto");
}

/// A shared library, compiled from C source or given.
class Library {
 public:
  explicit Library(const std::string& source) {
    proto::write_file(folder_.file("model.c"), source);
    const std::string command =
        "cc -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror -fPIC -shared -o " +
        folder_.file("model.so") + " " + folder_.file("model.c") + " -lm";
    EXPECT_EQ(std::system(command.c_str()), 0) << "the source has warnings or errors";
    open();
  }
  explicit Library(const ZipEntry& binary) {
    proto::write_file(folder_.file("model.so"), binary.contents);
    open();
  }
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Type>
  Type* find(const std::string& name) const {
    void* const found = handle_ == nullptr ? nullptr : ::dlsym(handle_, name.c_str());
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Type*>(found);
  }

 private:
  void open() {
    handle_ = ::dlopen(folder_.file("model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << ::dlerror();
  }

  test_support::TemporaryFolder folder_;
  void* handle_ = nullptr;
};

using Accelerations = void(const double*, const double*, const double*, const double*, double*);
using Step = void(const double*, double*, double*, const double*, double);

/// Compares accelerations of the C source with rigcal's inverse dynamics at random states at which
/// every joint slips.
void expect_equations_of_motion(const Rig& rig, const std::string& prefix) {
  const Library library(format_c_model(rig, {"a remark */ that ends no comment"}));
  auto* accelerations = library.find<Accelerations>(prefix + "_accelerations");
  const auto* defaults = library.find<const double>(prefix + "_defaults");
  estimator::TreeInverseDynamics<double> dynamics(rig.mechanism,
                                                  estimator::parameter_values(rig.mechanism));
  const int n = rig.mechanism.joint_count();
  const std::vector<int> motors = estimator::joints_with_motor(rig.mechanism);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  for (int trial = 0; trial < 20; ++trial) {
    JointVector<double> q(n), v(n), a(n), control = JointVector<double>::Zero(n), residual(n);
    for (int j = 0; j < n; ++j) q[j] = uniform(random), v[j] = uniform(random);
    std::vector<double> commands(motors.size() + 1);
    for (std::size_t m = 0; m < motors.size(); ++m)
      control[motors[m]] = commands[m] = uniform(random);
    accelerations(defaults, q.data(), v.data(), commands.data(), a.data());
    dynamics.torque_residual(q, v, a, control, residual);
    const double scale = 1.0 + a.cwiseAbs().maxCoeff();
    for (int j = 0; j < n; ++j) {
      const bool creeps = rig.mechanism.joints[j].transition_speed > 0.0;
      const double direction =
          creeps ? dynamics.smoothed_friction_fraction(j, v[j]) : std::copysign(1.0, v[j]);
      residual[j] += direction * dynamics.dry_friction_bound(j, v[j]);
      EXPECT_NEAR(residual[j] / scale, 0.0, 1e-12) << rig.path << " joint " << j;
    }
  }
}

TEST(ModelCode, AccelerationsSatisfyTheEquationsOfMotion) {
  expect_equations_of_motion(rig_of("furuta"), "furuta");
  expect_equations_of_motion(rig_of("chain3"), "chain3");
  expect_equations_of_motion(rig_of("cartpole"), "cart_pole");
  expect_equations_of_motion(parse_rig("r", kPendulum), "dry_pendulum");
  expect_equations_of_motion(
      parse_rig("r", replaced(kPendulum, "coulomb_torque { value: 0.1 }",
                              "coulomb_torque { value: 0.1 } transition_speed: 0.01")),
      "dry_pendulum");
}

/// Simulates with the C source, and returns the largest difference from a run of rigcal.
double deviation(const Rig& rig, const std::string& prefix, const Scenario& scenario,
                 const SimulatedRun& run) {
  const Library library(format_c_model(rig, {}));
  auto* step = library.find<Step>(prefix + "_step");
  const auto* defaults = library.find<const double>(prefix + "_defaults");
  Eigen::VectorXd q = scenario.initial_angles, v = scenario.initial_speeds;
  double largest = 0.0;
  for (Eigen::Index k = 0; k + 1 < run.angles.rows(); ++k) {
    const Eigen::VectorXd control = run.controls.row(k).transpose();
    step(defaults, q.data(), v.data(), control.data(), run.period);
    largest = std::max(largest, (run.angles.row(k + 1).transpose() - q).cwiseAbs().maxCoeff());
  }
  return largest;
}

// A release until friction holds the joints. Both integrate to fourth order in steps of 1 ms and
// find the instants at which joints stop; the difference is mostly the instant of breaking loose.
TEST(ModelCode, StepFollowsTheSimulationToRest) {
  const Rig rig = rig_of("furuta");
  const Scenario scenario = parse_scenario(
      "s", "duration_s: 10 release { } initial { joint: \"2\" angle_rad: 1.5 }", rig);
  const SimulatedRun run = simulate(rig, scenario, 1e-3, nullptr, Integrator::kPhysical);
  EXPECT_LT(deviation(rig, "furuta", scenario, run), 1e-5);
}

TEST(ModelCode, StepFollowsTheSimulationWithCommands) {
  const Rig rig = rig_of("furuta");
  const Scenario scenario =
      parse_scenario("s",
                     "duration_s: 3 chirp { motor: \"1\" amplitude: 2 frequency_start_hz: 0.5 "
                     "frequency_end_hz: 3 }",
                     rig);
  const SimulatedRun run = simulate(rig, scenario, 1e-3, nullptr, Integrator::kPhysical);
  EXPECT_LT(deviation(rig, "furuta", scenario, run), 1e-5);
}

// Friction of 0.1 N·m against 0.4 kg · 9.82 m/s² · 0.1 m = 0.3928 N·m: the limit is 0.2574 rad.
TEST(ModelCode, DryFrictionHoldsAJointUpToItsBound) {
  const Library library(format_c_model(parse_rig("r", kPendulum), {}));
  auto* step = library.find<Step>("dry_pendulum_step");
  auto* accelerations = library.find<Accelerations>("dry_pendulum_accelerations");
  const auto* defaults = library.find<const double>("dry_pendulum_defaults");
  for (const auto& [start, moves] : {std::pair(0.257, false), std::pair(0.258, true)}) {
    double q = start, v = 0.0, a = 1.0;
    const double u = 0.0;
    accelerations(defaults, &q, &v, &u, &a);
    EXPECT_EQ(a != 0.0, moves);
    step(defaults, &q, &v, &u, 0.1);
    EXPECT_EQ(q != start, moves);
  }
}

TEST(ModelCode, RefusesWhatItDoesNotSupport) {
  const auto refused = [](const Rig& rig) { return refusal([&] { format_c_model(rig, {}); }); };
  expect_parts(refused(rig_of("fourbar")), {"rig-fourbar.textproto", "joint", "closes a loop"});
  expect_parts(refused(rig_of("pendulum-stop")), {"has an end stop", "remove its stop"});
  expect_parts(refused(parse_rig("r", replaced(kPendulum, "coulomb_torque", "load"))),
               {"r: joint \"1\"", "load of its bearing"});
}

/// Functional mock-up unit whose functions are called as an importer calls them.
class Importer {
 public:
  explicit Importer(const Fmu& fmu) : library_(fmu.files.at(2)) {
    EXPECT_EQ(description_.Parse(fmu.files.at(0).contents.c_str()), tinyxml2::XML_SUCCESS);
    using Instantiate = void*(const char*, int, const char*, const char*, const void*, int, int);
    const std::string guid = root().Attribute("guid");
    auto* instantiate = library_.find<Instantiate>("fmi2Instantiate");
    EXPECT_EQ(instantiate("run", 1, "another guid", "", nullptr, 0, 0), nullptr);
    fmu_ = instantiate("run", 1, guid.c_str(), "", nullptr, 0, 0);
    EXPECT_NE(fmu_, nullptr);
  }
  ~Importer() { library_.find<void(void*)>("fmi2FreeInstance")(fmu_); }
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  const tinyxml2::XMLElement& root() const { return *description_.RootElement(); }

  /// Returns the description of a variable; nullptr if there is none.
  const tinyxml2::XMLElement* variable(const std::string& name) const {
    const auto* each = root().FirstChildElement("ModelVariables")->FirstChildElement();
    while (each != nullptr && name != each->Attribute("name")) each = each->NextSiblingElement();
    return each;
  }
  void set(const std::string& name, double value) {
    const unsigned reference = variable(name)->UnsignedAttribute("valueReference");
    using Set = int(void*, const unsigned*, std::size_t, const double*);
    EXPECT_EQ(library_.find<Set>("fmi2SetReal")(fmu_, &reference, 1, &value), 0);
  }
  double get(const std::string& name) {
    const unsigned reference = variable(name)->UnsignedAttribute("valueReference");
    double value = NAN;
    using Get = int(void*, const unsigned*, std::size_t, double*);
    EXPECT_EQ(library_.find<Get>("fmi2GetReal")(fmu_, &reference, 1, &value), 0);
    return value;
  }
  void step(double time, double size) {
    EXPECT_EQ(library_.find<int(void*, double, double, int)>("fmi2DoStep")(fmu_, time, size, 1), 0);
  }

 private:
  Library library_;
  tinyxml2::XMLDocument description_;
  void* fmu_ = nullptr;
};

TEST(ModelCode, DescriptionOfAnFmuListsItsVariables) {
  const Fmu fmu = make_fmu(parse_rig("r", kPendulum), {"Made of <r> & co"});
  ASSERT_EQ(fmu.files.size(), 3u) << fmu.note;
  EXPECT_EQ(fmu.files[0].name, "modelDescription.xml");
  EXPECT_EQ(fmu.files[1].name, "sources/dry_pendulum.c");
  EXPECT_EQ(fmu.files[2].name, "binaries/linux64/dry_pendulum.so");
  const Importer importer(fmu);
  EXPECT_STREQ(importer.root().Attribute("fmiVersion"), "2.0");
  EXPECT_STREQ(importer.root().Attribute("description"), "Made of <r> & co");
  const auto* simulation = importer.root().FirstChildElement("CoSimulation");
  EXPECT_STREQ(simulation->Attribute("modelIdentifier"), "dry_pendulum");
  const auto expect_variable = [&](const std::string& name, const std::string& causality,
                                   const std::string& variability, const std::string& unit,
                                   double start) {
    const auto* variable = importer.variable(name);
    ASSERT_NE(variable, nullptr) << name;
    EXPECT_EQ(variable->Attribute("causality"), causality);
    EXPECT_EQ(variable->Attribute("variability"), variability);
    const auto* real = variable->FirstChildElement("Real");
    EXPECT_EQ(real->Attribute("unit"), unit);
    EXPECT_EQ(real->DoubleAttribute("start"), start);
  };
  expect_variable("1.angle", "output", "continuous", "rad", 0.0);
  expect_variable("1.speed", "output", "continuous", "rad/s", 0.0);
  expect_variable("1.command", "input", "discrete", "A", 0.0);
  expect_variable("1.command_delay", "parameter", "fixed", "s", 0.0105);
  expect_variable("parameter.B.J_zz", "parameter", "tunable", "kg·m²", 0.001);
  EXPECT_EQ(importer.variable("parameter.B.J_xx"), nullptr) << "has no effect";
}

// A command of 0.4 A, 0.2 N·m, acts 10.5 ms later. Until then friction holds the pendulum.
TEST(ModelCode, FmuStepsLikeTheCSourceAfterTheCommandsDelay) {
  const Rig rig = parse_rig("r", kPendulum);
  Importer importer(make_fmu(rig, {}));
  const Library library(format_c_model(rig, {}));
  auto* step = library.find<Step>("dry_pendulum_step");
  const auto* defaults = library.find<const double>("dry_pendulum_defaults");
  importer.set("1.angle", 0.1);
  importer.set("1.command", 0.4);
  double q = 0.1, v = 0.0;
  const double u = 0.4;
  importer.step(0.0, 0.01);
  EXPECT_EQ(importer.get("1.angle"), 0.1);
  importer.step(0.01, 0.01);
  step(defaults, &q, &v, &u, 0.0095);
  EXPECT_NEAR(importer.get("1.angle"), q, 1e-12);
  EXPECT_NEAR(importer.get("1.speed"), v, 1e-12);
  EXPECT_GT(v, 0.0);
  importer.set("parameter.1.K", 0.0);
  importer.step(0.02, 1.0);
  EXPECT_EQ(importer.get("1.speed"), 0.0) << "comes to rest without the motor's torque";
}

// The Python source is executed by hand (docs/python.md); here only its shape is checked.
TEST(ModelCode, CasadiModuleContainsNamesAndValues) {
  const std::string text = format_casadi_model(rig_of("furuta"), {"from here"});
  expect_parts(text, {"from here", "JOINTS = [\"1\", \"2\"]", "COMMANDS = [\"1\"]",
                      "    \"1.tau_c\": 0.001,  # N·m\n",
                      "def dynamics(friction_speed=0.01):", "    mass[0] = ", "    bound[1] = p["});
  expect_absent(text, {"@", "const double", ";\n"});
}

}  // namespace
}  // namespace service
