#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace test_support {

/// Makes two private certificate authorities with openssl: "ours", which signed "service",
/// "client", "twofold" (with two common names) and "nameless" (with none), and "others", which
/// signed "stranger". Each has NAME.pem and NAME.key in the folder; all are for 127.0.0.1 and
/// localhost.
/// @return the reason for a failure, empty on success
std::string make_certificates(const TemporaryFolder& folder);

/// Options for rigcald, rigcal or rigcal-daq to show the certificate of `name` and trust
/// `authority`.
std::vector<std::string> tls_options(const TemporaryFolder& folder, const std::string& name,
                                     const std::string& authority);

}  // namespace test_support
