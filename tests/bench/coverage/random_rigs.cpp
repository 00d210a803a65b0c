// Coverage of 95 % intervals over random rigs, lengths, excitations and encoder disc phases: Furuta
// pendulums simulated in minimal coordinates by code independent of the estimator. Takes a second
// or less per calibration.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/estimator/calibrate/reference_recording.hpp"

namespace {

using test_support::ReferenceFuruta;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  template <typename Value>
  Value one_of(const std::vector<Value>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }
  double normal() { return std::normal_distribution<double>()(random_); }

 private:
  std::mt19937_64 random_;
};

/// The random properties of a case.
struct Case {
  ReferenceFuruta rig;
  std::string excitation;
  double duration = 0.0;  ///< [s]
  double period = 0.0;    ///< [s]
  double counts = 0.0;    ///< per turn
  std::vector<std::string> free;
};

Case draw_case(Draw& draw) {
  Case out;
  ReferenceFuruta& rig = out.rig;
  rig.m_A = draw.uniform(0.05, 0.4);
  rig.m_B = draw.uniform(0.02, 0.4);
  rig.L_arm = draw.uniform(0.08, 0.4);
  rig.l_1 = 0.5 * rig.L_arm;
  const double length = draw.uniform(0.1, 0.4);
  rig.l_2 = 0.5 * length;
  rig.J_Azz = rig.m_A * rig.L_arm * rig.L_arm / 12.0 + 1e-4;
  rig.J_Byy = rig.J_Bzz = rig.m_B * length * length / 12.0;
  rig.J_Bxx = 0.02 * rig.J_Byy;
  const double moment = rig.m_B * rig.g * rig.l_2;  // largest of gravity [N·m]
  const double swing = std::sqrt(moment / (rig.J_Bzz + rig.m_B * rig.l_2 * rig.l_2));  // [rad/s]
  const double inertia = rig.J_Azz + rig.m_A * rig.l_1 * rig.l_1 + rig.m_B * rig.L_arm * rig.L_arm;
  rig.b_1 = draw.log_uniform(0.02, 0.4) * inertia * swing;
  rig.b_2 = draw.log_uniform(0.003, 0.05) * moment / swing;
  rig.K = draw.log_uniform(0.02, 0.5) * inertia * swing * swing;
  rig.smoothing_speed = 1e-3;
  out.excitation = draw.one_of<std::string>({"multisine", "pulses", "release"});
  out.duration = draw.uniform(3.0, 20.0);
  out.period = draw.one_of<double>({0.001, 0.002, 0.005});
  out.counts = draw.one_of<double>({1024, 2048, 4096, 8192, 20000});
  out.free = {"B.J_yy", "B.J_zz", "1.b", "2.b"};
  out.free.push_back(out.excitation == "release" ? "A.J_zz" : "1.K");
  return out;
}

Eigen::VectorXd command(const Case& chosen, Draw& draw) {
  const auto samples = static_cast<Eigen::Index>(chosen.duration / chosen.period);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(samples);
  if (chosen.excitation == "multisine") {
    for (int k = 1; k <= 8; ++k) {
      const double frequency = 0.3 * k + draw.uniform(0.0, 0.3), phase = draw.uniform(0.0, 6.28);
      for (Eigen::Index i = 0; i < samples; ++i) {
        u[i] += 0.4 * std::sin(2.0 * std::numbers::pi * frequency * chosen.period *
                                   static_cast<double>(i) +
                               phase);
      }
    }
  } else if (chosen.excitation == "pulses") {
    double level = 0.0, left = 0.0;
    for (Eigen::Index i = 0; i < samples; ++i, left -= chosen.period) {
      if (left <= 0.0) {
        level = draw.uniform(-1.0, 1.0);
        left = draw.uniform(0.1, 0.8);
      }
      u[i] = level;
    }
  }
  return u;
}

struct Tally {
  int count = 0, covered = 0;
  double squares = 0.0;  ///< of errors over reported standard deviations
  void add(double error, const estimator::ParameterEstimate& estimate) {
    ++count;
    covered += std::abs(error) <= estimate.half_interval ? 1 : 0;
    squares += std::pow(error / estimate.standard_deviation, 2);
  }
};

std::string length_class(double duration) {
  return duration < 6.0 ? "3 to 6 s" : duration < 12.0 ? "6 to 12 s" : "12 to 20 s";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Coverage of reported intervals over random Furuta pendulums");
  std::string errors = "counts";
  int runs = 200;
  unsigned first = 1;
  bool lists = false;
  app.add_option("errors", errors, "noise (0.3 counts) or counts")
      ->check(CLI::IsMember({"noise", "counts"}));
  app.add_option("--runs", runs, "Rigs")->capture_default_str();
  app.add_option("--seed", first, "Of the first rig")->capture_default_str();
  app.add_flag("--list", lists, "One line an estimate");
  CLI11_PARSE(app, argc, argv);

  std::map<std::string, Tally> tallies;
  int unconverged = 0, unrefined = 0;
  for (int run = 0; run < runs; ++run) {
    Draw draw(first + static_cast<unsigned>(run));
    const Case chosen = draw_case(draw);
    const double quantum = 2.0 * std::numbers::pi / chosen.counts;
    const bool hangs = chosen.excitation != "release" && draw.uniform(0.0, 1.0) < 0.7;
    const Eigen::Vector4d start(0.0, hangs ? 0.0 : draw.uniform(0.5, 2.5), 0.0, 0.0);
    estimator::Recording recording =
        test_support::record(chosen.rig, start, command(chosen, draw), chosen.period, 0.0, 1);
    for (auto column : recording.segments[0].angles.colwise()) {
      const double phase = draw.uniform(-0.5, 0.5);
      for (double& angle : column) {
        angle = errors == "counts" ? (std::round(angle / quantum + phase) - phase) * quantum
                                   : angle + 0.3 * quantum * draw.normal();
      }
    }
    estimator::Mechanism mechanism = test_support::mechanism_of(chosen.rig);
    const estimator::Mechanism truth = mechanism;
    test_support::free_parameters(mechanism, chosen.free, draw.uniform(0.6, 1.5));
    const estimator::Calibration result = estimator::calibrate(mechanism, {recording});
    if (!result.converged()) {
      ++unconverged;
      continue;
    }
    unrefined += result.refined ? 0 : 1;
    for (const estimator::ParameterEstimate& estimate : result.parameters) {
      const double error =
          estimate.value -
          truth.parameters[static_cast<std::size_t>(truth.find_parameter(estimate.name))].value;
      for (const std::string& name :
           {std::string("all"), estimate.name, chosen.excitation + (hangs ? " from rest" : ""),
            length_class(chosen.duration)}) {
        tallies[name].add(error, estimate);
      }
      if (lists) {
        std::printf("%d %s %.1f %g %g %s %.3g %.3g %.3g\n", run,
                    (chosen.excitation + (hangs ? "0" : "")).c_str(), chosen.duration,
                    chosen.period, chosen.counts, estimate.name.c_str(), estimate.value,
                    error / estimate.standard_deviation,
                    estimate.standard_deviation / std::abs(estimate.value));
      }
    }
    std::fprintf(stderr, "\r%d of %d", run + 1, runs);
  }
  std::fprintf(stderr, "\n");
  std::printf("%s: %d rigs, %d not converged, %d without simulation fit\n", errors.c_str(), runs,
              unconverged, unrefined);
  std::printf("  %-20s %9s %9s %9s\n", "of", "estimates", "covered", "scatter");
  for (const auto& [name, tally] : tallies) {
    std::printf("  %-20s %9d %7.1f %% %9.3f\n", name.c_str(), tally.count,
                100.0 * tally.covered / tally.count, std::sqrt(tally.squares / tally.count));
  }
  return 0;
}
