#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/caller.hpp"
#include "tests/proto/schema_fields.hpp"

namespace campaign {

/// Replaces every number that a client may send, in requests, streams, rig texts of jobs and
/// scenario texts, by NaN, infinity, negative, zero, tiny and huge values. Each is refused with a
/// sentence that names the field, or is stored and read back, or gives a job that ends.
class NumberAttacker {
 public:
  NumberAttacker(Caller caller, std::string programs, std::string folder, std::uint64_t seed);

  /// Uses the numbers in a random order, repeatedly, until `stop` is set.
  void run(const std::atomic<bool>& stop);

 private:
  /// One number: the message that holds it, its field, and its new value.
  struct Number {
    enum class In { kRequest, kRigText, kScenarioText } in;
    test_support::FieldPath path;
    double value;
  };

  void put(const Number& number);
  void put_into_opening(const Number& number);
  void put_into_stream(const Number& number);
  void put_into_request(const Number& number);
  void put_into_rig(const Number& number);
  void put_into_scenario(const Number& number);
  void run_job(const Number& number, const rigcal::v1::ServiceRequest& submit);
  void harvest();
  void finish_session(const Number& number, const std::string& id, std::size_t sample_count);
  void expect_refusal(const Number& number, const std::string& text);
  bool expect_right(const Number& number, const rigcal::v1::ServiceReply& reply);
  void fail(const Number& number, const std::string& what);
  std::string new_id() { return caller_.name() + "-" + std::to_string(++count_); }

  Caller caller_;
  std::string programs_;
  std::string folder_;
  std::mt19937_64 random_;
  std::vector<Number> numbers_;
  std::string recording_;                            // session that jobs name
  std::string stream_;                               // session without a batch yet
  std::deque<std::pair<Number, std::string>> jobs_;  // submitted jobs, by id
  int count_ = 0;                                    // of ids
};

}  // namespace campaign
