// rigcald: the calibration service.

#include <filesystem>

#include "proto/text/command_line/command_line.hpp"
#include "service/server/daemon.hpp"
#include "service/server/jobs/cluster_job.hpp"
#include "service/server/jobs/job_process.hpp"
#include "service/server/jobs/live_fit_process.hpp"
#include "service/server/storage/log.hpp"

namespace {

// Exit status for invalid settings and usage errors, as in rigcal.
constexpr int kBadInput = 1;

int serve(CLI::App& app, int argc, char** argv) {
  std::string file, data, http, certificate, key, authority;
  std::vector<std::string> listen;
  bool insecure = false, debug = false;
  app.add_option("--config", file,
                 "Settings file (proto/daemon.proto); the options below override it")
      ->type_name("FILE");
  app.add_option("--data", data, "Folder for sessions and jobs")->type_name("FOLDER");
  app.add_option("--listen", listen,
                 "Address to listen at; may be repeated; "
                 "default unix:$XDG_RUNTIME_DIR/rigcald.sock, "
                 "or unix:/run/rigcald/rigcald.sock if that variable is unset")
      ->type_name("unix:/PATH|HOST:PORT");
  app.add_option("--http", http,
                 "Address of the web page, the HTTP interface, /metrics and /health; "
                 "default none")
      ->type_name("HOST:PORT");
  app.add_option("--tls-cert", certificate, "Certificate chain, PEM")->type_name("FILE");
  app.add_option("--tls-key", key, "Private key, PEM")->type_name("FILE");
  app.add_option("--tls-ca", authority, "Authorities of client certificates, PEM")
      ->type_name("FILE");
  app.add_flag("--insecure", insecure, "Allow listening beyond loopback without TLS");
  app.add_flag("--debug", debug, "Log more");
  return proto::run_program(app, argc, argv, kBadInput, [&] {
    service::DaemonConfig config;
    if (!file.empty()) config = service::load_daemon_config(file);
    const auto override_with = [](const std::string& given, std::string& setting) {
      if (!given.empty()) setting = given;
    };
    override_with(data, config.data_folder);
    if (!listen.empty()) config.listen = listen;
    override_with(http, config.http);
    override_with(certificate, config.tls.certificate);
    override_with(key, config.tls.private_key);
    override_with(authority, config.tls.authority);
    config.insecure = insecure;
    if (debug) service::set_log_level(service::LogLevel::kDebug);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    return service::run_daemon(config, program, RIGCAL_VERSION);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "run-job") {
    return service::run_job_process({argv + 2, argv + argc}, RIGCAL_VERSION);
  }
  if (argc > 1 && std::string_view(argv[1]) == "run-cluster-job") {
    return service::run_cluster_job_process({argv + 2, argv + argc}, RIGCAL_VERSION);
  }
  if (argc > 1 && std::string_view(argv[1]) == "run-live-fit") {
    return service::run_live_fit_process({argv + 2, argv + argc});
  }
  if (argc > 1 && std::string_view(argv[1]) == "run-task") {
    return service::run_task_process({argv + 2, argv + argc}, RIGCAL_VERSION);
  }
  CLI::App app("Receives recordings from rigs and runs calibrations", "rigcald");
  app.set_version_flag("--version", std::string("rigcald ") + RIGCAL_VERSION);
  app.footer(
      "Examples:\n"
      "  rigcald --data /var/lib/rigcald\n"
      "  rigcald --config configs/daemon.textproto --http 127.0.0.1:9330\n"
      "\nStops on SIGTERM or Ctrl-C; running jobs restart at the next start.\n"
      "Exit status: 0 stopped by a signal, 1 bad settings or usage, or a folder or address that "
      "cannot be used.");
  return serve(app, argc, argv);
}
