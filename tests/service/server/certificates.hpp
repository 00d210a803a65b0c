#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// Makes two private authorities with openssl: "ours", which has signed "service" and "client", and
/// "others", which has signed "stranger". Each is a NAME.pem and a NAME.key in the folder; all are
/// for 127.0.0.1 and localhost.
/// @return why it failed, empty when all is well
std::string make_certificates(const TemporaryFolder& folder);

/// What makes rigcald, rigcal or rigcal-daq show the certificate of `name` and trust `authority`.
std::vector<std::string> tls_options(const TemporaryFolder& folder, const std::string& name,
                                     const std::string& authority);

}  // namespace test_support
