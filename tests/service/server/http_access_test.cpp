#include "service/server/http_access.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>

#include "proto/stream/content_hash.hpp"
#include "service/server/http_routes.hpp"
#include "service/server/live_samples.hpp"
#include "service/server/page/page_files.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

HttpRequest request_with(HttpFields headers, const std::string& method = "GET",
                         const std::string& path = "/api/jobs") {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  return request;
}

constexpr const char* kLocal = "127.0.0.1:9330";

int status_of(const HttpAccess& access, HttpFields headers, const std::string& method = "GET",
              const std::string& body = "") {
  HttpRequest request = request_with(std::move(headers), method);
  request.body = body;
  const auto refused = access.check_source(request, kLocal);
  return refused ? refused->status : 200;
}

// The names of the service itself are known, and those of its settings. Another name is one that a
// foreign page has pointed at this address (DNS rebinding).
TEST(HttpAccess, RefusesForeignHosts) {
  const HttpAccess access({.hosts = {"Rigs.example.org"}, .tokens = {}}, {}, 9330, true, true);
  for (const char* const known : {"127.0.0.1:9330", "localhost:9330", "LOCALHOST:9330",
                                  "rigs.example.org", "rigs.example.org:9330"}) {
    EXPECT_EQ(status_of(access, {{"host", known}}), 200) << known;
  }
  for (const char* const foreign :
       {"evil.example:9330", "127.0.0.1", "localhost:80", "127.0.0.1:9330.evil.example", "",
        "rigs.example.org:80", "10.0.0.5:9330"}) {
    EXPECT_EQ(status_of(access, {{"host", foreign}}), 403) << foreign;
  }
  EXPECT_EQ(status_of(access, {{"host", kLocal}, {"host", kLocal}}), 403) << "two hosts";
}

// Pages of other origins get nothing, neither by script nor by form.
TEST(HttpAccess, RefusesForeignOrigins) {
  const HttpAccess access({}, {}, 9330, true, true);
  const auto status = [&](const char* name, const char* value, const char* method = "GET") {
    return status_of(access, {{"host", kLocal}, {name, value}}, method);
  };
  EXPECT_EQ(status("origin", "http://127.0.0.1:9330", "POST"), 200);
  for (const char* const origin : {"http://evil.example", "null", "http://127.0.0.1:9331",
                                   "http://127.0.0.1:9330.evil.example", "http://localhost:9330"}) {
    EXPECT_EQ(status("origin", origin), 403) << origin;
    EXPECT_EQ(status("origin", origin, "POST"), 403) << origin;
  }
  EXPECT_EQ(status("sec-fetch-site", "same-origin", "POST"), 200);
  EXPECT_EQ(status("sec-fetch-site", "none"), 200);
  EXPECT_EQ(status("sec-fetch-site", "cross-site"), 403);
  EXPECT_EQ(status("sec-fetch-site", "same-site", "POST"), 403) << "another port of this machine";
  const auto navigation = [&](const char* method) {
    return status_of(access,
                     {{"host", kLocal},
                      {"sec-fetch-site", "cross-site"},
                      {"sec-fetch-mode", "navigate"},
                      {"sec-fetch-dest", "document"}},
                     method);
  };
  EXPECT_EQ(navigation("GET"), 200) << "a link";
  EXPECT_EQ(navigation("POST"), 403) << "a form";
  EXPECT_EQ(status_of(access, {{"host", kLocal}, {"content-type", "text/plain"}}, "POST", "{}"),
            415);
  EXPECT_EQ(
      status_of(access, {{"host", kLocal}, {"content-type", "application/json"}}, "POST", "{}"),
      200);
}

std::string identity_of(HttpAccess& access, HttpFields headers) {
  headers.emplace_back("host", kLocal);
  const auto who = access.identify(request_with(std::move(headers)), -1);
  const auto* const identity = std::get_if<Identity>(&who);
  if (identity == nullptr) return std::to_string(std::get<HttpResponse>(who).status);
  return identity->name + (identity->is_operator ? " (operator)" : "");
}

TEST(HttpAccess, IdentifiesClientsByTokenOrLogin) {
  proto::ContentHash hash, other;
  hash.add("token of anna");
  other.add("token of bert");
  HttpAccess access(
      {.hosts = {}, .tokens = {{hash.sha256(), "account:anna"}, {other.sha256(), "account:bert"}}},
      {.certificates = {"anna"}, .accounts = {"bert"}}, 9330, true, true);
  EXPECT_EQ(identity_of(access, {}), "401");
  EXPECT_EQ(identity_of(access, {{"authorization", "Bearer token of anna"}}), "account:anna");
  EXPECT_EQ(identity_of(access, {{"authorization", "bearer token of bert"}}),
            "account:bert (operator)");
  EXPECT_EQ(identity_of(access, {{"authorization", "Bearer token"}}), "401");
  EXPECT_EQ(identity_of(access, {{"authorization", "Basic token of anna"}}), "401");

  EXPECT_EQ(access.log_in(request_with({}), "guess").status, 401);
  const HttpResponse login = access.log_in(request_with({}), "token of anna");
  ASSERT_EQ(login.headers.size(), 1u);
  const std::string cookie = login.headers[0].second;
  for (const char* const part : {"HttpOnly", "SameSite=Strict", "Path=/"}) {
    EXPECT_NE(cookie.find(part), std::string::npos) << cookie;
  }
  EXPECT_EQ(cookie.find("token"), std::string::npos);
  const std::string sent = "other=1; " + cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(identity_of(access, {{"cookie", sent}}), "account:anna");
  EXPECT_EQ(identity_of(access, {{"cookie", "rigcal-9330="}}), "401");
  access.log_out(request_with({{"cookie", sent}}));
  EXPECT_EQ(identity_of(access, {{"cookie", sent}}), "401");
}

// Without tokens the account counts, and a proxy would hide it.
TEST(HttpAccess, RefusesUnknownAccountsAndProxies) {
  HttpAccess access({}, {}, 9330, true, true);
  EXPECT_EQ(identity_of(access, {}), "403") << "not a loopback connection";
  EXPECT_EQ(identity_of(access, {{"x-forwarded-for", "10.0.0.1"}}), "403");
  HttpAccess network({}, {}, 9330, false, true);
  EXPECT_EQ(identity_of(network, {}), "403");
}

// The page uses only routes that exist, and every route of the API is in the OpenAPI document.
TEST(HttpRoutes, AgreeWithThePageAndTheDocument) {
  const std::string script =
      page_file("/page.js") + page_file("/live.js") + page_file("/stages.js");
  const std::regex call(R"re((?:call\("(GET|POST|DELETE)", |link\(|pathOf\()"(/api/[^"]*)")re");
  int count = 0;
  for (std::sregex_iterator at(script.begin(), script.end(), call), end; at != end; ++at, ++count) {
    const std::string method = (*at)[1].matched ? (*at)[1].str() : "GET";
    const std::string path = std::regex_replace((*at)[2].str(), std::regex(R"(\{\w+\})"), "x-1");
    EXPECT_TRUE(std::holds_alternative<MatchedRoute>(match_route(request_with({}, method, path))))
        << method << " " << path;
  }
  EXPECT_GE(count, 12);
  const std::string page = page_file("/");
  for (const char* const file :
       {"/live.css", "/page.js", "/live.js", "/stages.js", "/chart.js", "/mechanism.js"}) {
    EXPECT_NE(page.find("\"" + std::string(file) + "\""), std::string::npos) << file;
    EXPECT_FALSE(page_file(file).empty());
  }
  const std::string document = make_openapi_document("1.0");
  for (const HttpRoute& route : http_routes()) {
    const bool is_of_api = std::string_view(route.path).starts_with("/api/");
    EXPECT_EQ(document.find("\"" + std::string(route.path) + "\":{") != std::string::npos,
              is_of_api)
        << route.path;
  }
  // Text from the service cannot become markup or code.
  for (const char* const unsafe :
       {"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("}) {
    for (const char* const file : {"/", "/live.js", "/chart.js", "/mechanism.js"}) {
      EXPECT_EQ(page_file(file).find(unsafe), std::string::npos) << file << ": " << unsafe;
    }
  }
}

TEST(HttpRoutes, RefusePathsThatNoItemHas) {
  const auto status = [](const std::string& method, const std::string& path) {
    const auto matched = match_route(request_with({}, method, path));
    const auto* const refused = std::get_if<HttpResponse>(&matched);
    return refused == nullptr ? 200 : refused->status;
  };
  EXPECT_EQ(status("GET", "/api/sessions/a.b-c_1"), 200);
  for (const char* const path :
       {"/../etc/passwd", "/api/sessions/", "/api/sessions/../jobs", "/api/sessions/%2e%2e",
        "/api/sessions/a/b", "/api/sessions//live", "/api/jobs/x/report/", "//", "/live.js/"}) {
    EXPECT_EQ(status("GET", path), 404) << path;
  }
  EXPECT_EQ(status("PUT", "/api/jobs"), 405);
  EXPECT_EQ(status("POST", "/"), 405);
}

std::string take(LiveSamples& samples, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t k = first; k <= last; ++k) {
    samples.add(test_support::batch_request(k).sample_batch());
  }
  return samples.take_events();
}

// Each interval contains the least and greatest values of its samples.
TEST(LiveSamples, KeepsExtremesOfEachInterval) {
  rigcal::v1::SampleBatch batch;
  for (int k = 0; k < 25; ++k) {
    auto& sample = *batch.add_samples();
    sample.set_timestamp(0.001 * k + 0.0005);
    // The reading of sample 3 is invalid and not displayed.
    sample.add_angle_rad(k == 13 ? 9.0 : k == 17 ? -9.0 : k == 3 ? 7.0 : 0.5);
    sample.add_valid(k != 3);
    sample.add_command(k);
  }
  batch.add_gaps()->set_sample_count(7);
  batch.add_events()->set_text("<b>\n\"hit\"</b>");
  LiveSamples samples;
  EXPECT_TRUE(samples.is_empty());
  samples.add(batch);
  const std::string events = samples.take_events();
  EXPECT_TRUE(samples.is_empty());
  for (const char* const part :
       {"event: samples\ndata: {\"times\":[0,0.01,0.02],\"low\":[[0.5,0],[-9,10],[0.5,20]],"
        "\"high\":[[0.5,9],[9,19],[0.5,24]]",
        "\"angles\":[0.5],\"commands\":[24]", "\"samples\":25,\"missing\":7,\"dropped\":0}\n\n",
        "event: event\ndata: {"}) {
    EXPECT_NE(events.find(part), std::string::npos) << part << "\n" << events;
  }
  EXPECT_EQ(events.find("<b>"), std::string::npos) << "escaped: no end of the line, no markup";
}

// A viewer that does not read needs bounded memory, and learns how much it missed.
TEST(LiveSamples, DropsTheOldestIntervalsOfASlowViewer) {
  LiveSamples samples;
  const std::string fast = take(samples, 1, 10);  // 200 samples of 1 ms
  EXPECT_NE(fast.find("\"dropped\":0"), std::string::npos);
  const std::string slow = take(samples, 11, 2000);
  EXPECT_EQ(slow.find("\"dropped\":0"), std::string::npos);
  EXPECT_LT(slow.size(), 200u * LiveSamples::kIntervalsMax);
  rigcal::v1::SampleBatch batch;
  for (std::size_t k = 0; k < 3 * LiveSamples::kEventsMax; ++k) {
    batch.add_events()->set_text("event " + std::to_string(k));
  }
  samples.add(batch);
  const std::string events = samples.take_events();
  EXPECT_EQ(test_support::count_of(events, "event: event"), int{LiveSamples::kEventsMax});
  EXPECT_EQ(events.find("\"event 0\""), std::string::npos);
  EXPECT_NE(events.find(std::to_string(3 * LiveSamples::kEventsMax - 1)), std::string::npos);
}

}  // namespace
}  // namespace service
