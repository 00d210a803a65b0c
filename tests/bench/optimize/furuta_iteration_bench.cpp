// One Levenberg–Marquardt iteration of the Furuta rig with 12 free parameters, compared with Ceres
// on the same residuals, differentiated by Ceres.

#include <benchmark/benchmark.h>
#include <ceres/ceres.h>

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "tests/bench/optimize/measurement.hpp"
#include "tests/estimator/calibrate/ceres_autodiff_furuta.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"

namespace {

using namespace test_support;

using bench::Dgemm;
using bench::median;
using bench::thread_time;
using estimator::StateForm;
using estimator::TrajectoryData;
using estimator::TrajectoryProblem;
using estimator::TrajectorySettings;

// Start of both solvers: parameters off by 10 % in either direction, states at the truth, encoder
// noise of 1 mrad.
struct Start {
  estimator::Mechanism mechanism = furuta_with_12_parameters();
  TrajectorySettings settings;
  TrajectoryData data;

  Start(int nodes, StateForm form) {
    settings.state_form = form;
    data = simulate_furuta(mechanism, nodes, settings.step.step, 1e-3, 7);
    disturb_parameters(mechanism, 1.1);
  }
};

// Processor time of a number of iterations, and the linear systems solved in them.
struct Run {
  double seconds;
  int linear_solves;
};

// Few enough that no solver has converged, so that every step is a full one.
constexpr int kIterations = 4;

// Seconds per iteration, from a long and a short run with equal set-up time.
template <typename Solve>
double time_per_iteration(const Solve& solve) {
  const Run few = solve(1), many = solve(kIterations);
  return (many.seconds - few.seconds) / (many.linear_solves - few.linear_solves);
}

Run run_rigcal(const Start& start, int iterations) {
  TrajectoryProblem problem(start.mechanism, {start.data}, start.settings);
  estimator::LmOptions options;
  options.max_iterations = iterations;
  options.gradient_tolerance = options.step_tolerance = options.cost_tolerance = 0.0;
  const double begin = thread_time();
  const estimator::LmSummary summary = estimator::solve(problem, options);
  const double seconds = thread_time() - begin;
  int solves = summary.iterations;
  for (const estimator::IterationRecord& record : summary.history) solves += record.rejected;
  return {seconds, solves};
}

Run run_ceres(const Start& start, ceres::LinearSolverType solver,
              ceres::SparseLinearAlgebraLibraryType library, int iterations) {
  CeresAutodiffFuruta problem(start.mechanism, start.data, start.settings);
  ceres::Solver::Options options;
  options.linear_solver_type = solver;
  options.sparse_linear_algebra_library_type = library;
  options.num_threads = 1;
  options.max_num_iterations = iterations;
  options.function_tolerance = options.gradient_tolerance = options.parameter_tolerance = 0.0;
  options.logging_type = ceres::SILENT;
  const double begin = thread_time();
  const ceres::Solver::Summary summary = problem.solve(options);
  return {thread_time() - begin, summary.num_linear_solves};
}

// nodes, full states?
void furuta_iteration(benchmark::State& state) {
  const Start start(static_cast<int>(state.range(0)),
                    state.range(1) != 0 ? StateForm::kFull : StateForm::kConfigurations);
  Dgemm yardstick;
  std::vector<double> times, dgemm;
  const double memory_before = bench::peak_memory_MB();
  for (auto _ : state) {
    times.push_back(time_per_iteration([&](int n) { return run_rigcal(start, n); }));
    state.SetIterationTime(times.back());
    dgemm.push_back(yardstick.measure());
  }
  const double seconds = median(times);
  state.counters["ms"] = 1e3 * seconds;
  state.counters["least_ms"] = 1e3 * *std::min_element(times.begin(), times.end());
  state.counters["us_per_node"] = 1e6 * seconds / static_cast<double>(state.range(0));
  state.counters["dgemm_gflops"] = median(dgemm);
  state.counters["ms_at_50_gflops"] = 1e3 * seconds * median(dgemm) / 50.0;
  state.counters["peak_MB"] = bench::peak_memory_MB() - memory_before;
}

// The parts of an iteration, each measured alone.
void furuta_parts(benchmark::State& state) {
  const Start start(static_cast<int>(state.range(0)),
                    state.range(1) != 0 ? StateForm::kFull : StateForm::kConfigurations);
  TrajectoryProblem problem(start.mechanism, {start.data}, start.settings);
  estimator::ArrowheadFactorization factor(problem.shape(), problem.max_block_rows());
  estimator::ResidualBlock block;
  Eigen::VectorXd node_step;
  const Eigen::VectorXd parameter_step = Eigen::VectorXd::Zero(problem.shape().parameter_count);
  std::vector<double> linearize, sweep, solve, evaluate;
  for (auto _ : state) {
    double begin = thread_time();
    const auto lap = [&begin](std::vector<double>& times) {
      const double now = thread_time();
      times.push_back(now - begin);
      begin = now;
    };
    for (int index = 0; index < problem.block_count(); ++index) problem.linearize(index, block);
    lap(linearize);
    if (!factor.factorize(problem, 1e-8)) state.SkipWithError("factorisation failed");
    lap(sweep);
    factor.compute_node_step(parameter_step, node_step);
    lap(solve);
    benchmark::DoNotOptimize(problem.evaluate_trial_step(node_step, parameter_step));
    lap(evaluate);
    state.SetIterationTime(sweep.back() + solve.back() + evaluate.back());
  }
  state.counters["linearize_ms"] = 1e3 * median(linearize);
  state.counters["sweep_ms"] = 1e3 * median(sweep);  // linearises too
  state.counters["solve_ms"] = 1e3 * median(solve);
  state.counters["evaluate_ms"] = 1e3 * median(evaluate);
}

// Ceres for each state form and linear solver, with rigcal timed in between on the same state form:
// same machine, same minute.
void against_ceres(benchmark::State& state, StateForm form, ceres::LinearSolverType solver,
                   ceres::SparseLinearAlgebraLibraryType library) {
  const Start start(static_cast<int>(state.range(0)), form);
  Dgemm yardstick;  // limits OpenBLAS, which Ceres uses, to one thread
  std::vector<double> ours, theirs, dgemm;
  for (auto _ : state) {
    ours.push_back(time_per_iteration([&](int n) { return run_rigcal(start, n); }));
    theirs.push_back(
        time_per_iteration([&](int n) { return run_ceres(start, solver, library, n); }));
    dgemm.push_back(yardstick.measure());
    state.SetIterationTime(theirs.back());
  }
  state.counters["rigcal_ms"] = 1e3 * median(ours);
  state.counters["ceres_ms"] = 1e3 * median(theirs);
  state.counters["ratio"] = median(theirs) / median(ours);
  state.counters["dgemm_gflops"] = median(dgemm);
}

BENCHMARK(furuta_iteration)
    ->ArgNames({"nodes", "full"})
    ->Args({2000, 0})
    ->Args({2000, 1})
    ->Args({1000, 0})
    ->Args({10000, 0})
    ->Args({100000, 0})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK(furuta_parts)
    ->ArgNames({"nodes", "full"})
    ->Args({2000, 0})
    ->Args({2000, 1})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

struct Solver {
  const char* name;
  ceres::LinearSolverType type;
  ceres::SparseLinearAlgebraLibraryType library;
};

// EIGEN_SPARSE is missing: Debian's Ceres is built without AVX and crashes in it when linked with
// code that has AVX.
constexpr Solver kSolvers[] = {
    {"cholesky_suitesparse", ceres::SPARSE_NORMAL_CHOLESKY, ceres::SUITE_SPARSE},
    {"cholesky_cxsparse", ceres::SPARSE_NORMAL_CHOLESKY, ceres::CX_SPARSE},
    {"schur_suitesparse", ceres::SPARSE_SCHUR, ceres::SUITE_SPARSE},
};

[[maybe_unused]] const bool kRegistered = [] {
  for (const StateForm form : {StateForm::kConfigurations, StateForm::kFull}) {
    const std::string states = form == StateForm::kFull ? "full_states" : "configurations";
    for (const Solver& solver : kSolvers) {
      const std::string name = "furuta_against_ceres/autodiff_" + states + "/" + solver.name;
      benchmark::RegisterBenchmark(name.c_str(), against_ceres, form, solver.type, solver.library)
          ->Arg(2000)
          ->Iterations(7)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
