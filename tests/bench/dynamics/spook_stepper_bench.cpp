#include "estimator/spook/spook_stepper.hpp"

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "estimator/math/lemke.hpp"
#include "tests/estimator/dynamics/pair_formulation.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kStep = 5e-3;

Mechanism frictionless(Mechanism mechanism) {
  for (const JointParameter quantity :
       {JointParameter::kViscous, JointParameter::kQuadraticDrag, JointParameter::kCoulombTorque,
        JointParameter::kStribeckTorque}) {
    set_all(mechanism, quantity, 0.0);
  }
  return mechanism;
}

// Steps a swinging mechanism repeatedly, and restarts it before it comes to rest.
void run_steps(benchmark::State& bench, const Mechanism& mechanism) {
  const int n = mechanism.joint_count();
  const State start = assemble_state(mechanism, unpack_parameters(mechanism),
                                     Eigen::VectorXd::Constant(n, 0.5), Eigen::VectorXd::Zero(n));
  SpookStepper stepper(mechanism, kStep);
  State state = start;
  const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, 0.2);
  int count = 0;
  for (auto _ : bench) {
    if (++count % 512 == 0) state = start;
    benchmark::DoNotOptimize(stepper.step(state, control));
  }
  bench.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(bench.iterations()), benchmark::Counter::kIsRate);
}

void furuta_frictionless(benchmark::State& bench) { run_steps(bench, make_furuta()); }
BENCHMARK(furuta_frictionless);

void furuta_constant_dry_friction(benchmark::State& bench) {
  run_steps(bench, with_friction(make_furuta(), 0.0, 0.0));
}
BENCHMARK(furuta_constant_dry_friction);

void furuta_load_friction(benchmark::State& bench) {
  run_steps(bench, with_friction(make_furuta(), 1e-3, 1e-4));
}
BENCHMARK(furuta_load_friction);

void chain_frictionless(benchmark::State& bench) {
  run_steps(bench, frictionless(make_chain({.links = static_cast<int>(bench.range(0))})));
}
BENCHMARK(chain_frictionless)->Arg(1)->Arg(2)->Arg(5)->Arg(10)->Arg(20);

void chain_dry_friction(benchmark::State& bench) {
  run_steps(bench,
            with_friction(make_chain({.links = static_cast<int>(bench.range(0))}), 0.0, 0.0));
}
BENCHMARK(chain_dry_friction)->Arg(1)->Arg(2)->Arg(5)->Arg(10)->Arg(20);

// The same random states for both: the whole fast step compared with the solution of the 26-row
// pair formulation alone (without its assembly).
struct FrictionCase {
  State state;
  PairFormulation pair;
};

std::vector<FrictionCase> make_cases(const Mechanism& mechanism) {
  std::mt19937 engine(1);
  std::vector<FrictionCase> cases;
  SpookStepper stepper(mechanism, kStep);
  const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, 0.2);
  for (int i = 0; i < 256; ++i) {
    State state = random_state(mechanism, engine, i % 2 ? 2.0 : 0.02, i % 2 ? 3.0 : 1e-2, 1e-5);
    const State before = state;
    const DenseStep dense(mechanism, state, control, kStep);
    stepper.step(state, control);
    const Eigen::VectorXd sigma_t = dense.stick_speed.cwiseQuotient(stepper.friction_bounds());
    cases.push_back({before, make_pair_formulation(mechanism, before, dense, sigma_t)});
  }
  return cases;
}

void friction_fast_step(benchmark::State& bench) {
  const Mechanism mechanism = with_friction(make_furuta(), 1e-3, 1e-4);
  const std::vector<FrictionCase> cases = make_cases(mechanism);
  SpookStepper stepper(mechanism, kStep);
  State state = cases[0].state;
  const Eigen::VectorXd control = Eigen::VectorXd::Constant(1, 0.2);
  std::size_t i = 0;
  for (auto _ : bench) {
    state = cases[i++ % cases.size()].state;
    benchmark::DoNotOptimize(stepper.step(state, control));
  }
}
BENCHMARK(friction_fast_step);

void friction_lemke(benchmark::State& bench) {
  const std::vector<FrictionCase> cases = make_cases(with_friction(make_furuta(), 1e-3, 1e-4));
  std::size_t i = 0;
  for (auto _ : bench) {
    const PairFormulation& pair = cases[i++ % cases.size()].pair;
    benchmark::DoNotOptimize(solve_linear_complementarity(pair.H, pair.q));
  }
}
BENCHMARK(friction_lemke);

}  // namespace
}  // namespace estimator
