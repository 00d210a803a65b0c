#include "proto/tls/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <asio/ssl/error.hpp>
#include <string_view>
#include <vector>

#include "proto/text/input_error.hpp"

namespace proto {
namespace {

using asio::ssl::context;

context make_tls(context::method method, const TlsFiles& files) {
  context tls(method);
  tls.set_options(context::default_workarounds | context::no_tlsv1 | context::no_tlsv1_1);
  asio::error_code error;
  const auto check = [&](const std::string& file) {
    if (error) throw InputError(file + ": cannot be used for TLS: " + error.message());
  };
  tls.use_certificate_chain_file(files.certificate, error);
  check(files.certificate);
  tls.use_private_key_file(files.private_key, context::pem, error);
  check(files.private_key);
  tls.load_verify_file(files.authority, error);
  check(files.authority);
  tls.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  check(files.authority);
  return tls;
}

std::vector<std::string> common_names(const X509_NAME* subject) {
  std::vector<std::string> names;
  for (int at = -1; (at = ::X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject),
                                                       NID_commonName, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ::ASN1_STRING_to_UTF8(
        &text, ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at)));
    names.emplace_back(reinterpret_cast<const char*>(text),
                       static_cast<std::size_t>(std::max(size, 0)));
    ::OPENSSL_free(text);
  }
  return names;
}

std::string printable(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= ' ' && byte < 0x7f && letter != '%') {
      text += letter;
    } else {
      (text += '%') += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
  }
  return text;
}

}  // namespace

context make_server_tls(const TlsFiles& files) { return make_tls(context::tls_server, files); }

context make_client_tls(const TlsFiles& files) { return make_tls(context::tls_client, files); }

bool has_tls_certificate(const TlsFiles& files) {
  const int given =
      !files.certificate.empty() + !files.private_key.empty() + !files.authority.empty();
  if (given != 0 && given != 3) {
    throw InputError("TLS needs --tls-cert, --tls-key and --tls-ca together");
  }
  return given == 3;
}

std::string describe_tls_problem(const SSL* session, const asio::error_code& error) {
  if (const long verdict = ::SSL_get_verify_result(session); verdict != X509_V_OK) {
    return std::string("TLS: the service's certificate is rejected: ") +
           ::X509_verify_cert_error_string(verdict) +
           "; use the host name in its certificate, and give its authority with --tls-ca";
  }
  if (error.category() == asio::error::get_ssl_category()) {
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
    if (reason == SSL_R_WRONG_VERSION_NUMBER) {
      return "the service does not use TLS; omit --tls-cert, --tls-key and --tls-ca";
    }
    if (reason > SSL_AD_REASON_OFFSET) {
      return "TLS: the service rejects this client: " + error.message() +
             "; give a certificate that its authority has signed and that has not expired";
    }
  }
  return "TLS: " + error.message();
}

// Which of several names is the identity would be ambiguous, so that its holder could choose.
Result<std::string> read_peer_name(const SSL* session) {
  X509* const certificate = ::SSL_get1_peer_certificate(session);
  std::vector<std::string> names;
  if (certificate != nullptr) names = common_names(::X509_get_subject_name(certificate));
  ::X509_free(certificate);
  if (names.size() == 1 && !names.front().empty()) return printable(names.front());
  std::string listed;
  for (const std::string& name : names) {
    listed += (listed.empty() ? " (\"" : ", \"") + printable(name) + '"';
  }
  if (!listed.empty()) listed += ')';
  return Error{ErrorCode::kUnsupported,
               "the certificate of this client has " + std::to_string(names.size()) +
                   " common names" + listed +
                   ", but the service identifies a client by one common name; "
                   "use a certificate with one CN that is not empty"};
}

void require_peer_host(SSL* session, const std::string& host) {
  if (::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1) return;
  ::SSL_set1_host(session, host.c_str());
  ::SSL_set_tlsext_host_name(session, host.c_str());
}

}  // namespace proto
