#include "tests/service/server/certificates.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace test_support {
namespace {

const char* const kScript = R"(set -e
cd "$1"
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$1.key" -out "$1.pem"
}
signed() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "${3:-/CN=$1}" \
    -keyout "$1.key" -out "$1.csr"
  printf 'subjectAltName=IP:127.0.0.1,DNS:localhost' > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 2 \
    -extfile "$1.ext" -out "$1.pem"
}
authority ours
authority others
signed service ours
signed client ours
signed stranger others
signed twofold ours /CN=client/CN=service
signed nameless ours /O=client
)";

}  // namespace

std::string make_certificates(const TemporaryFolder& folder) {
  const std::string script = folder.file("make-certificates.sh");
  const std::string log = folder.file("make-certificates.log");
  std::ofstream(script) << kScript;
  const std::string command = "bash " + script + " " + folder.file("") + " >" + log + " 2>&1";
  if (std::system(command.c_str()) == 0) return "";
  std::ifstream text(log);
  return {std::istreambuf_iterator<char>(text), {}};
}

std::vector<std::string> tls_options(const TemporaryFolder& folder, const std::string& name,
                                     const std::string& authority) {
  return {"--tls-cert", folder.file(name + ".pem"),     "--tls-key", folder.file(name + ".key"),
          "--tls-ca",   folder.file(authority + ".pem")};
}

}  // namespace test_support
