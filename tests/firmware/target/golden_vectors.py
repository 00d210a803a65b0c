#!/usr/bin/env python3
"""Writes the golden vectors of PROTOCOL.md as C for the target: golden_vectors.py PROTOCOL.md OUT.c

Each vector becomes a function that encodes its fields, compares the frame with the vector's bytes,
and decodes and encodes these again."""
import re
import sys

# Per message: header, struct, encoder and decoder calls. m is the struct, b the message's buffer, n
# its size. A call that returns no size writes its message's fixed size.
MESSAGES = {
    "HELLO": ("session", "hello_head", "hello_encode(&m, b), HELLO_SIZE_BYTES",
              "hello_head_decode(b, n, &m)"),
    "HELLO_REPLY": ("session", "hello_reply", "hello_reply_encode(&m, b), HELLO_REPLY_SIZE_BYTES",
                    "hello_reply_decode(b, n, &m)"),
    "CONFIGURE": ("session", "configure_request",
                  "configure_request_encode(&m, b), CONFIGURE_SIZE_BYTES",
                  "configure_request_decode(b, n, &m)"),
    "CONFIGURE_REPLY": ("session", "configure_reply",
                        "configure_reply_encode(&m, b), CONFIGURE_REPLY_SIZE_BYTES",
                        "configure_reply_decode(b, n, &m)"),
    "CLEAR": ("session", "clear_request", "clear_request_encode(&m, b), CLEAR_SIZE_BYTES",
              "clear_request_decode(b, n, &m)"),
    "CLEAR_REPLY": ("session", "clear_reply", "clear_reply_encode(&m, b), CLEAR_REPLY_SIZE_BYTES",
                    "clear_reply_decode(b, n, &m)"),
    "FAULT": ("fault", "fault_report", "fault_report_encode(&m, b), FAULT_SIZE_BYTES",
              "fault_report_decode(b, n, &m)"),
    "DESCRIBE": ("session", "describe_request",
                 "describe_request_encode(&m, b), DESCRIBE_SIZE_BYTES",
                 "describe_request_decode(b, n, &m)"),
    "DESCRIBE_REPLY": ("session", "describe_reply",
                       "describe_reply_encode(&m, b), DESCRIBE_REPLY_SIZE_BYTES",
                       "describe_reply_decode(b, n, &m)"),
    "SAMPLE": ("sample", "sample_report", "sample_report_encode(&m, shape, b)",
               "sample_report_decode(b, n, shape, &m)"),
    "SAMPLE_COMPACT": ("sample", "sample_report", "sample_compact_encode(&m, shape, b)",
                       "sample_compact_decode(b, n, shape, &m)"),
    "INERTIAL": ("inertial", "inertial_report", "inertial_report_encode(&m, b)",
                 "inertial_report_decode(b, n, &m)"),
    "COMMAND": ("command", "command_request", "command_request_encode(&m, motors, b)",
                "command_request_decode(b, n, motors, &m)"),
    "COMMAND_COMPACT": ("command", "command_request", "command_compact_encode(&m, b)",
                        "command_compact_decode(b, n, &m)"),
}
IN_DESCRIPTION = {"kind", "flags", "scale", "modulus"}


def inertial_counts(fields):
    """Initializers of inertial_report.counts: rates, then forces, of the sensors that are named."""
    rates, forces = fields.pop("rate_counts"), fields.pop("force_counts")
    sensors = [k for k in range(4) if int(fields["sensors"][0]) >> k & 1]
    return [f".counts[{sensor}] = {{{', '.join(rates[3 * i:3 * i + 3] + forces[3 * i:3 * i + 3])}}}"
            for i, sensor in enumerate(sensors)]


def check(index, name, fields, frame):
    _, struct, encode, decode = MESSAGES[name]
    motors = len(fields.get("command_q15", []))
    encoders = len(fields.get("encoder_counts", []))
    marks = "true" if "index_passed" in fields else "false"
    initializers = inertial_counts(fields) if name == "INERTIAL" else []
    if "encoders_valid_status" in fields:
        packed = int(fields.pop("encoders_valid_status")[0], 0)
        initializers += [f".encoders_valid = {packed & 15}", f".status = {packed >> 4}"]
    for field, values in fields.items():
        inner = f"description.{field}" if name == "DESCRIBE_REPLY" and field in IN_DESCRIPTION else field
        # C has no literal -2147483648.
        values = ["INT32_MIN" if value == "-2147483648" else value for value in values]
        is_array = len(values) > 1 or field in ("encoder_counts", "command_q15")
        initializers.append(f".{inner} = " + ("{" + ", ".join(values) + "}" if is_array else values[0]))
    uses = {"motors": "motors" in encode, "shape": "shape" in encode}
    lines = [f"static bool check_{index}(void) {{"]
    if uses["motors"]:
        lines.append(f"  enum {{ motors = {motors} }};")
    if uses["shape"]:
        lines.append(f"  static const sample_shape shape = {{{encoders}, {motors}, {marks}}};")
    lines += [
        f"  static const uint8_t kFrame[] = {{{', '.join('0x' + byte for byte in frame)}}};",
        f"  {struct} m = {{{', '.join(initializers)}}};",
        "  uint8_t b[MESSAGE_SIZE_BYTES_MAX];",
        f"  size_t n = ({encode});",
        "  if (!golden_encodes_to(b, n, kFrame, sizeof(kFrame))) return false;",
        f"  const {struct} none = {{0}};",
        "  m = none;",
        f"  if (!golden_decode(kFrame, sizeof(kFrame), b, &n) || !{decode}) return false;",
        f"  n = ({encode});",
        "  return golden_encodes_to(b, n, kFrame, sizeof(kFrame));",
        "}", ""]
    return lines


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    block = re.search(r"```golden\n(.*?)```", text, re.S).group(1).splitlines()
    checks, table = [], []
    for index in range(len(block) // 2):
        words = block[2 * index].split()
        fields = {word.split("=")[0]: word.split("=")[1].split(",") for word in words[1:]}
        checks += check(index, words[0], fields, block[2 * index + 1].split())
        table.append(f'    {{"{" ".join(words)}", check_{index}}},')
    missing = set(MESSAGES) - {line.split()[0] for line in block[::2]}
    if missing:
        sys.exit(f"PROTOCOL.md has no golden vector of {', '.join(sorted(missing))}")
    headers = sorted({entry[0] for entry in MESSAGES.values()})
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("\n".join(['#include "tests/firmware/target/golden.h"', ""] +
                            [f'#include "firmware_iface/wire/{header}.h"' for header in headers] +
                            [""] + checks +
                            ["const golden_check kGoldenChecks[] = {"] + table + ["};",
                             f"const size_t kGoldenCheckCount = {len(table)};", ""]))


main()
