#include <pybind11/eigen.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "estimator/simulation/interval/joint_dynamics.hpp"
#include "proto/text/input_error.hpp"
#include "service/python/python_input.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"

namespace service {
namespace {

namespace py = pybind11;
using namespace pybind11::literals;
using Eigen::MatrixXd, Eigen::VectorXd;

/// Runs `work`, and names the rig file in its errors.
template <typename Work>
auto explain(const Rig& rig, const Work& work) {
  try {
    return work();
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(rig.path + ": " + fault.what());
  }
}

/// Dynamics of a rig for Python programs. The Python package checks the shapes of all arrays.
class RigDynamics {
 public:
  explicit RigDynamics(const Rig& rig)
      : rig_(rig),
        dynamics_(explain(rig_, [&] { return estimator::JointDynamics(rig.mechanism); })) {}

  /// Returns coordinates of all joints at which the loops are closed.
  /// @param wanted  one per joint; NaN: arbitrary
  VectorXd assemble(const VectorXd& wanted) const {
    const auto assembled = assemble_initial_configuration(rig_.mechanism, wanted);
    if (assembled) return *assembled;
    throw proto::InputError(
        "{}: the loops cannot be closed with these positions; give fewer of them, or other values",
        rig_.path);
  }

  VectorXd accelerations(const VectorXd& q, const VectorXd& v, const VectorXd& u) {
    return explain(rig_, [&] { return dynamics_.accelerations({q, v, u}); });
  }

  /// Returns the mass matrix, and the names of its joints.
  py::tuple mass_matrix(const VectorXd& q) {
    return explain(rig_, [&] {
      return py::make_tuple(dynamics_.mass_matrix(q), names(dynamics_.independent_joints(q)));
    });
  }

  /// Returns the arguments of rigcal.Linearization. @param period  0: a continuous model
  py::dict linearize(const VectorXd& q, const VectorXd& v, const VectorXd& u, double period) {
    const estimator::LinearModel model = explain(rig_, [&] {
      return dynamics_.linearize({q, v, u}, period);
    });
    return py::dict("A"_a = model.A, "B"_a = model.B, "f"_a = model.f,
                    "joints"_a = names(model.joints), "frictionless"_a = names(model.frictionless));
  }

  /// Simulates the motion with commands that are constant for one period each.
  /// @param commands  periods × motors
  /// @param longest   longest integration step [s]
  /// @return coordinates and speeds, (periods + 1) × joints, and notes
  py::tuple simulate(const MatrixXd& commands, double period, const VectorXd& q, const VectorXd& v,
                     double longest) {
    const auto count = static_cast<std::size_t>(commands.rows());
    const double rate = 1.0 / period;
    std::vector<double> times(count + 1);
    for (std::size_t k = 0; k <= count; ++k) times[k] = static_cast<double>(k) / rate;
    std::vector<daq::MotorExcitation> excitations;
    for (Eigen::Index m = 0; m < commands.cols(); ++m) {
      std::vector<double> values(commands.col(m).begin(), commands.col(m).end());
      values.push_back(0.0);
      excitations.push_back({daq::Replay(times, std::move(values)), static_cast<std::size_t>(m)});
    }
    if (excitations.empty()) excitations.push_back({daq::Replay({0.0, period}, {0.0, 0.0}), 0});
    Scenario scenario{.excitation = daq::Scenario("commands", std::move(excitations), times.back()),
                      .rate = rate};
    explain(rig_, [&] {
      dynamics_.check_position(q);
      scenario.initial_speeds = dynamics_.solve_dependent_rates(q, v);
      return 0;
    });
    scenario.initial_angles = q;
    scenario.keeps_joint_motion = true;
    const double step = period / std::max(1.0, std::ceil(period / longest * (1.0 - 1e-9)));
    SimulatedRun run;
    {
      const py::gil_scoped_release solving;
      run = service::simulate(rig_, scenario, step, nullptr, Integrator::kPhysical);
    }
    const Eigen::Index n = q.size();
    return py::make_tuple(MatrixXd(run.joint_motion.leftCols(n)),
                          MatrixXd(run.joint_motion.rightCols(n)), run.notes);
  }

 private:
  std::vector<std::string> names(const std::vector<int>& joints) const {
    std::vector<std::string> list;
    for (const int j : joints) {
      list.push_back(rig_.mechanism.joints[static_cast<std::size_t>(j)].name);
    }
    return list;
  }

  Rig rig_;
  estimator::JointDynamics dynamics_;
};

}  // namespace

void bind_dynamics(py::module_& module) {
  py::class_<RigDynamics>(module, "Dynamics")
      .def(py::init<const Rig&>(), "rig"_a)
      .def("assemble", &RigDynamics::assemble, "wanted"_a)
      .def("accelerations", &RigDynamics::accelerations, "q"_a, "v"_a, "u"_a)
      .def("mass_matrix", &RigDynamics::mass_matrix, "q"_a)
      .def("linearize", &RigDynamics::linearize, "q"_a, "v"_a, "u"_a, "period"_a)
      .def("simulate", &RigDynamics::simulate, "commands"_a, "period"_a, "q"_a, "v"_a, "step"_a);
}

}  // namespace service
