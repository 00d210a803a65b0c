#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "estimator/optimize/arrow_factor.hpp"
#include "tests/bench/optimize/chain_bench_problem.hpp"
#include "tests/bench/optimize/measurement.hpp"

namespace {

using bench::Dgemm;
using bench::median;
using bench::thread_time;
using estimator::ArrowheadFactorization;
using estimator::ProblemShape;

// Linear algebra of one iteration: assembly, elimination, back substitution. DGEMM is timed between
// iterations, so that both medians are of the same machine state.
void sweep_and_solve(benchmark::State& state) {
  const ProblemShape shape{static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                           static_cast<int>(state.range(2)), static_cast<int>(state.range(3))};
  const bench::ChainBenchProblem problem(shape);
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  const Eigen::VectorXd parameter_step = Eigen::VectorXd::Ones(shape.parameter_count);
  Eigen::VectorXd node_step;
  Dgemm yardstick;
  std::vector<double> sweep, solve, dgemm;
  for (auto _ : state) {
    const double start = thread_time();
    if (!factor.factorize(problem, 1e-8)) state.SkipWithError("factorisation failed");
    const double factor_s = thread_time() - start;
    factor.compute_node_step(parameter_step, node_step);
    benchmark::DoNotOptimize(node_step.data());
    const double all_s = thread_time() - start;
    state.SetIterationTime(all_s);
    sweep.push_back(factor_s);
    solve.push_back(all_s - factor_s);
    dgemm.push_back(yardstick.measure());
  }
  const double all = median(sweep) + median(solve);
  const double least =
      *std::min_element(sweep.begin(), sweep.end()) + *std::min_element(solve.begin(), solve.end());
  state.counters["median_ms"] = 1e3 * all;
  state.counters["least_ms"] = 1e3 * least;
  state.counters["solve_ms"] = 1e3 * median(solve);
  state.counters["us_per_node"] = 1e6 * all / shape.node_count;
  state.counters["gflops"] = 1e-9 * problem.flop_count() / all;
  state.counters["gflops_best"] = 1e-9 * problem.flop_count() / least;
  state.counters["dgemm_gflops"] = median(dgemm);
  state.counters["of_dgemm"] = 1e-9 * problem.flop_count() / all / median(dgemm);
  state.counters["peak_MB"] = bench::peak_memory_MB();
}

// nodes, node size, bandwidth, parameters
BENCHMARK(sweep_and_solve)
    ->ArgNames({"nodes", "size", "band", "arrow"})
    ->Args({2000, 24, 1, 13})
    ->Args({2000, 12, 2, 12})
    ->Args({2000, 6, 2, 5})
    ->Args({2000, 36, 2, 20})
    ->Args({2000, 60, 1, 20})
    ->Args({1000, 12, 2, 12})
    ->Args({10000, 12, 2, 12})
    ->Args({100000, 12, 2, 12})
    ->Args({1000, 24, 1, 13})
    ->Args({10000, 24, 1, 13})
    ->Args({100000, 24, 1, 13})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
