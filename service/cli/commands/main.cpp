#include "proto/text/command_line/command_line.hpp"
#include "proto/text/command_line/malloc_tuning.hpp"
#include "service/cli/command.hpp"

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  rigcal init --from run.csv --out rig.textproto\n"
    "  rigcal info configs/rig-furuta.textproto\n"
    "  rigcal info run.csv --rig configs/rig-furuta.textproto\n"
    "  rigcal info run.mcap\n"
    "  rigcal export run.mcap --out run.csv --out run.mat\n"
    "  rigcal import robot.urdf --out rig.textproto\n"
    "  rigcal check run.csv --rig configs/rig-furuta.textproto\n"
    "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json run.json --plot "
    "run.html\n"
    "  rigcal repeat run.json\n"
    "  rigcal crossvalidate run1.csv run2.csv --rig configs/rig-furuta.textproto\n"
    "  rigcal bootstrap run.csv --rig configs/rig-furuta.textproto --draws 1000\n"
    "  rigcal batch LIST.csv --csv estimates.csv\n"
    "  rigcal validate new.csv --rig configs/rig-furuta.textproto --parameters run.json\n"
    "  rigcal compare run.csv --rig configs/rig-furuta.textproto\n"
    "  rigcal compare-results before.json after.json\n"
    "  rigcal simulate --rig configs/rig-furuta.textproto \\\n"
    "      --scenario configs/scenario-release.textproto --out release.csv\n"
    "  rigcal design --rig rig.textproto --after run.json --for 1.b:2% --out next.textproto\n"
    "  rigcal identify --rig rig.textproto --until 1.b:2% --folder runs\n"
    "\n"
    "Exit status: 0 done, 1 bad input or usage, or output not written, 2 not converged,\n"
    "3 error of the service, 130 stopped by Ctrl-C or --time-limit.\n"
    "Run rigcal COMMAND --help for help on a command.";

}  // namespace

int main(int argc, char** argv) {
  proto::enable_memory_reuse();
  CLI::App app("Estimates physical parameters of pendulum rigs from recordings of joint angles",
               "rigcal");
  app.set_version_flag("--version", std::string("rigcal ") + RIGCAL_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  service::ExitCode exit_code = service::kDone;
  for (service::AddCommand* const add : {service::add_init,
                                         service::add_calibrate,
                                         service::add_check,
                                         service::add_repeat,
                                         service::add_crossvalidate,
                                         service::add_bootstrap,
                                         service::add_batch,
                                         service::add_validate,
                                         service::add_estimate,
                                         service::add_compare,
                                         service::add_compare_results,
                                         service::add_simulate,
                                         service::add_design,
                                         service::add_identify,
                                         service::add_info,
                                         service::add_import,
                                         service::add_export,
                                         service::add_recover,
                                         service::add_sessions,
                                         service::add_jobs,
                                         service::add_watch,
                                         service::add_cancel,
                                         service::add_result,
                                         service::add_report,
                                         service::add_work}) {
    add(app, exit_code);
  }
  return proto::run_program(app, argc, argv, service::kBadInput, [&] { return exit_code; });
}
