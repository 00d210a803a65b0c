#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/campaign/caller.hpp"

// The clients of a campaign. Each runs until `stop` is set and completes what it has begun. A seed
// determines what a client does, but not when.
namespace campaign {

/// A rig that behaves correctly: samples at 1 kHz, twenty batches per second. While the service
/// itself is not disturbed, other clients must not affect it: no lost connection, no refusal, no
/// acknowledgement out of order.
void run_canary(Caller caller, const std::atomic<bool>& stop);

/// A rig: rigcal-sim as its unit and rigcal-daq, one run after the other, streaming through a bad
/// line. Some runs are killed, and so is rigcal-daq send, which delivers the rest of the spool.
/// After each run the service's recording is compared, sample for sample, with the rig's own
/// recording, with the unit's truth, and with the batches acknowledged on the line.
void run_real_rig(Caller caller, const std::string& programs, const std::string& folder,
                  std::uint64_t seed, const std::atomic<bool>& stop);

/// A rig that makes every mistake with which it still has a right to its samples: sends batches
/// twice, out of order and altered after their acknowledgement, stops in the middle, closes its
/// direction, reconnects while its old connection hangs. Its samples are those of batch_request(),
/// so that the stored ones can be checked exactly.
void run_made_up_rig(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop);

/// An operator who repeatedly calibrates with `rigcal --server`. The programs are killed at any
/// moment, and the operator retries under the same id. Each result must equal that of the same
/// calibration without a service, and all must be equal to the last digit. However many jobs others
/// have waiting, one of this operator's waits for one turn of each.
void run_calibrations(Caller caller, const std::string& programs, const std::string& folder,
                      std::uint64_t seed, const std::atomic<bool>& stop);

/// Any data that may reach a socket: noise, lengths of gigabytes, messages that expand in memory,
/// connections that never finish a message or never read, crowds of them, requests for missing
/// objects, damaged copies of correct streams.
/// @param crowd  largest number of simultaneous connections
void run_hostile_client(Caller caller, std::uint64_t seed, int crowd,
                        const std::atomic<bool>& stop);

/// Streams sessions that are built to be acknowledged and then to be impossible to store or read:
/// time that goes back within a batch and between two, counts at the ends of their ranges, gaps
/// that contradict the samples, names full of escapes and slashes, headers without or with far too
/// much content, contradictory ends.
///
/// A refusal must have a sentence, and the session continues with a valid batch instead.
/// Acknowledged data must be read back exactly, take no more disk space than their size requires,
/// be written once, and can be deleted.
void run_poisoner(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop);

/// Uses as much as it can of everything: jobs with large inputs that are cancelled at once, endless
/// jobs, sessions with large headers, uploads until refused, streams and connections, lists without
/// reading them.
///
/// Each refusal must say that the share is used up. The refused resources remain for others, which
/// canaries, rigs and calibrations check elsewhere in the campaign. Then it deletes all that it
/// has, and starts again.
void run_hoarder(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop);

/// Lists all sessions and jobs, as everyone may, and attacks those of others: opens them again
/// without a secret, with a guessed one and with a truncated one, writes other content under
/// acknowledged numbers, closes, ends and deletes them, adds to their uploads, cancels and deletes
/// their jobs. Each attempt must be refused. The victims check their own content.
/// @param accomplice  with the victims' own identity, where only the secret protects a stream
void run_thief(Caller caller, Caller accomplice, std::uint64_t seed, const std::atomic<bool>& stop);

/// Replaces every number that a client may send, in requests, streams, rig texts of jobs and
/// scenario texts, by NaN, infinity, negative, zero, tiny and huge values, in a random order. Each
/// is refused with a sentence that names the field, or is stored and read back, or gives a job that
/// ends.
void run_number_attacker(Caller caller, const std::string& programs, const std::string& folder,
                         std::uint64_t seed, const std::atomic<bool>& stop);

}  // namespace campaign
