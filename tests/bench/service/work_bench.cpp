// Executors of work items: overhead per item, time to open a store, and speed-up by threads.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "estimator/calibrate/bootstrap.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "service/work/executor.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/reference_simulators.hpp"
#include "tests/support/temporary_folder.hpp"

namespace service {
namespace {

WorkBatch make_items(int count) {
  WorkBatch batch{.kind = "bench"};
  for (int i = 0; i < count; ++i) {
    batch.items.push_back({.key = "key" + std::to_string(i), .request = std::to_string(i)});
  }
  batch.compute = [](const WorkItem&, const std::atomic<bool>*) { return std::string(200, 'x'); };
  return batch;
}

// Items without work: scheduling, storing and progress.
void BM_ItemOverhead(benchmark::State& state) {
  const WorkBatch batch = make_items(10'000);
  for (auto _ : state) {
    const test_support::TemporaryFolder folder;
    WorkStore store(folder.file("s"));
    make_local_executor(static_cast<int>(state.range(0)))->run(batch, store, nullptr, {});
  }
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(BM_ItemOverhead)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// Opens a store, and reads all results.
void BM_ReadStore(benchmark::State& state) {
  const WorkBatch batch = make_items(static_cast<int>(state.range(0)));
  const test_support::TemporaryFolder folder;
  {
    WorkStore store(folder.file("s"));
    make_local_executor(1)->run(batch, store, nullptr, {});
  }
  for (auto _ : state) {
    const WorkStore store(folder.file("s"));
    for (const WorkItem& item : batch.items) benchmark::DoNotOptimize(store.find(item.key));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadStore)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMillisecond);

// Stores the results of a million items from a thousand tasks of a cluster; opens this store as the
// executor does at the end, or as a task does; and reads new results, as every 15 s.
enum class Reader { kMerge, kTask, kRefresh };
void BM_StoreOfTasks(benchmark::State& state) {
  constexpr int kTasks = 1000;
  const auto reader = static_cast<Reader>(state.range(0));
  const WorkBatch batch = make_items(1'000'000);
  const test_support::TemporaryFolder folder;
  for (int task = 0; task < kTasks; ++task) {
    WorkStore store(folder.file("s"), "task" + std::to_string(task));
    for (std::size_t i = task; i < batch.items.size(); i += kTasks) {
      store.store(batch.items[i].key, compute_item(batch, batch.items[i], nullptr));
    }
  }
  WorkStore merged(folder.file("s"), reader == Reader::kRefresh ? "" : "none");
  for (auto _ : state) {
    if (reader == Reader::kRefresh) {
      merged.refresh();
      benchmark::DoNotOptimize(merged.find_missing(batch.items));
    } else {
      const WorkStore store(folder.file("s"), reader == Reader::kTask ? "task7" : "");
      benchmark::DoNotOptimize(store.contains("key0"));
    }
  }
}
BENCHMARK(BM_StoreOfTasks)
    ->Arg(static_cast<int>(Reader::kMerge))
    ->Arg(static_cast<int>(Reader::kTask))
    ->Arg(static_cast<int>(Reader::kRefresh))
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Draws of a bootstrap of a pendulum, 5 s at 200 Hz with noise.
void BM_BootstrapDraws(benchmark::State& state) {
  using namespace estimator;
  const test_support::ReferencePendulum rig{.b = 5e-4};
  const Mechanism mechanism =
      test_support::freed(test_support::pendulum_of(rig), {"P.J_zz", "1.b"}, 1.2);
  const std::vector<Recording> recordings = {
      test_support::swing(rig, "swing", 1.2, 1000, 5e-3, 1e-3, 3)};
  const Calibration calibration = calibrate(mechanism, recordings);
  const BootstrapInput input = make_bootstrap_input(mechanism, recordings, calibration, {}, 0.0);
  WorkBatch batch = make_items(100);
  batch.compute = [&](const WorkItem& item, const std::atomic<bool>*) {
    const BootstrapDraw draw = compute_bootstrap_draw(
        input, BootstrapMethod::kNoise, std::stoi(item.request), CalibrationMonitor{});
    return std::to_string(draw.values.front());
  };
  for (auto _ : state) {
    const test_support::TemporaryFolder folder;
    WorkStore store(folder.file("s"));
    make_local_executor(static_cast<int>(state.range(0)))->run(batch, store, nullptr, {});
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(BM_BootstrapDraws)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace service
