#!/usr/bin/env python3
"""Converts files of earlier versions of rigcal: renames fields that have new names.

Converts rig files, scenario files and study files (text-format Protobuf) and results (JSON). Only
names of fields and of some values change; comments, spacing, order and numbers are kept byte for
byte. The rig file within a result is converted too, but its sha256 stays that of the original
file. Without --in-place, --output or --check the converted file is printed to standard output.

Exit status: 0 if all files are converted, or if --check finds no old field; 1 if --check finds old
fields; 2 if a file cannot be read.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

TABLE_FILE = Path(__file__).resolve().parent.parent / "proto/text/renamed_fields.cpp"
TABLE_ROW = re.compile(r'\{\s*"rigcal\.v1\.([\w.]+)",\s*"(\w+)",\s*"(\w+)"\s*\}')
DEPTH_MAX = 100  # nested messages, as in Protobuf

# The messages of fields, by new names, on the way to every message with a renamed field.
MESSAGE_OF_FIELD = {
    "Rig": {
        "body": "Body",
        "joint": "Joint",
        "chain": "Chain",
        "recording": "RecordingFormat",
        "unit": "Unit",
        "safety": "Safety",
        "quantity": "FreeQuantity",
        "body_encoder": "BodyEncoder",
        "torque_sensor": "TorqueSensor",
        "force_torque_sensor": "ForceTorqueSensor",
    },
    "Joint": {"friction": "Friction", "mimic": "Mimic"},
    "Chain": {"friction": "Friction"},
    "RecordingFormat": {
        "angle": "AngleColumn",
        "position": "PositionColumn",
        "control": "ControlColumn",
    },
    "Unit": {"channel": "UnitChannel", "motor": "UnitMotor", "commissioned": "Commissioned"},
    "Commissioned": {"safety": "Safety"},
    "Safety": {"joint": "JointSafety", "motor": "MotorSafety"},
    "Scenario": {
        "initial": "InitialState",
        "release": "Release",
        "limits": "Limits",
        "noise": "SensorNoise",
    },
    "Limits": {"joint": "JointLimit"},
    "Study": {
        "method": "StudyMethod",
        "redundant": "StudyRedundant",
        "leg": "StudyLeg",
        "arms": "StudyArms",
    },
    "StudyRedundant": {"chain": "StudyChain", "robot": "StudyRobot"},
    "StudyLeg": {"draw": "StudyLeg.Draw"},
    "StudyArms": {"arm": "StudyArm"},
    "CalibrationResult": {
        "simulation": "SimulationResult",
        "options": "OptionsResult",
        "recordings": "RecordingResult",
        "noise": "NoiseResult",
        "held_out": "HeldOutResult",
        "verdict": "VerdictResult",
        "provenance": "ProvenanceResult",
        "principal_inertias": "PrincipalInertiaResult",
        "contradictions": "ContradictionResult",
    },
    "CrossValidationResult": {
        "folds": "FoldResult",
        "simulation": "SimulationResult",
        "simulation_matrices": "SimulationMatrix",
        "options": "OptionsResult",
        "recordings": "RecordingResult",
        "provenance": "ProvenanceResult",
    },
    "FoldResult": {"simulation": "SimulationResult"},
    "ValidationResult": {"provenance": "ProvenanceResult"},
    "LawComparisonResult": {"recordings": "RecordingResult", "provenance": "ProvenanceResult"},
    "CheckResult": {"recordings": "RecordingResult", "provenance": "ProvenanceResult"},
    "ProvenanceResult": {"options": "OptionsResult"},
    "CommissionRecord": {"joint": "CommissionedJoint"},
}

# Renamed values of fields with one value: message, new name of the field, old value: new value.
RENAMED_VALUES = {
    ("Joint", "motion", "true"): "PRESCRIBED",
    ("Joint", "motion", "false"): "DYNAMIC",
    ("VerdictResult", "kind", "holds"): "accepted",
    ("VerdictResult", "kind", "does-not-hold"): "rejected",
    ("VerdictResult", "kind", "explains-nothing"): "no-fit",
}

# Text fields of results that contain a file: message, field, message of that file.
EMBEDDED_FILES = {("ProvenanceResult", "rig_text"): "Rig"}

# Messages of text-format files and their fields. Names of fields that were renamed count too. The
# last two messages have no renamed fields.
TEXT_FILES = {
    "Rig": "name body joint chain gravity recording unit safety real_time quantity dependency "
    "body_encoder inertial_sensor torque_sensor force_torque_sensor position_sensor "
    "distance_sensor vibration contact",
    "Scenario": "name duration_s rate_hz initial release swing_up pulse step chirp multisine "
    "replay pulse_train limits noise test_push position_feedback",
    "Study": "kind title settings method set sweep_recording sweep starts trace redundant leg arms",
    "Simulation": "pendulum furuta gravity unit hand line unit_faults seed",
    "Daemon": "data_folder listen http tls workers limits share operators executor http_access",
}
KINDS = {"rig": "Rig", "scenario": "Scenario", "study": "Study", "result": None}

# Results, by a field that no earlier one in this list has.
RESULTS = [
    ("laws", "LawComparisonResult"),
    ("windows", "ValidationResult"),
    ("folds", "CrossValidationResult"),
    ("worst", "CheckResult"),
    ("rig_file_sha256", "CommissionRecord"),
    ("parameters", "CalibrationResult"),
]


class InputError(Exception):
    """A file that cannot be converted; `offset` is the faulty byte, None without a location."""

    def __init__(self, what, offset=None):
        super().__init__(what)
        self.what = what
        self.offset = offset


class Edit:
    """The replacement of text[begin:end]."""

    def __init__(self, begin, end, new, description):
        self.begin = begin
        self.end = end
        self.new = new
        self.description = description


class Field:
    """A field of a parsed text or JSON file.

    name      without quotes
    begin     of the name in the text
    end       of the name
    messages  fields of its messages, one list per message; empty for other values
    value     begin and end of a JSON string without its quotes, or of a name as the value of a
              field of a text; else None
    """

    def __init__(self, name, begin, end):
        self.name = name
        self.begin = begin
        self.end = end
        self.messages = []
        self.value = None


def read_table(path=TABLE_FILE):
    """Returns the renamed fields: {message: {old name: new name}}."""
    try:
        rows = TABLE_ROW.findall(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the table of renamed fields {path}: {error.strerror}")
    if not rows:
        raise InputError(f"{path} has no table of renamed fields")
    table = {}
    for message, old, new in rows:
        table.setdefault(message, {})[old] = new
    # The schema does not list the options of results.
    table["OptionsResult"] = {"approach": "start_from_physical"}
    return table


def locate(text, offset):
    """Returns line and column from 1 as rigcal prints them: in bytes, tabs to multiples of 8."""
    begin = text.rfind("\n", 0, offset) + 1
    column = 0
    for character in text[begin:offset]:
        column = (column // 8 + 1) * 8 if character == "\t" else column + 1
    return text.count("\n", 0, begin) + 1, column + 1


class Tokens:
    """A text split into tokens; `kind` and `word` are those of the current one."""

    def __init__(self, text, pattern):
        self.text = text
        self.pattern = pattern
        self.begin = self.end = 0
        self.kind = self.word = ""
        self.advance()

    def advance(self):
        found = self.pattern.match(self.text, self.end)
        if found is None:
            at = self.pattern.skip.match(self.text, self.end).end()
            raise InputError(self.pattern.describe(self.text[at]), at)
        self.begin, self.end = found.span(found.lastgroup)
        self.kind, self.word = found.lastgroup, found.group(found.lastgroup)

    def accept(self, *words):
        """Skips the current token if it is one of these punctuation marks."""
        if self.kind != "mark" or self.word not in words:
            return False
        self.advance()
        return True

    def is_mark(self, *words):
        return self.kind == "mark" and self.word in words

    def fail(self, expected):
        word = self.word[:40].encode("latin-1", "replace").decode("utf-8", "replace")
        found = "the end of the file" if self.kind == "end" else f'"{word}"'
        raise InputError(f"expected {expected}, found {found}", self.begin)


class Pattern:
    """The tokens of a language, after what separates them."""

    def __init__(self, skip, tokens):
        self.skip = re.compile(skip)
        self.token = re.compile(skip + "(?:" + tokens + r"|(?P<end>\Z))")

    def match(self, text, offset):
        return self.token.match(text, offset)

    @staticmethod
    def describe(character):
        if character in "\"'":
            return "a string is not closed on its line, or has a wrong escape"
        return f"unexpected character {ascii(character)}"


TEXT_PATTERN = Pattern(
    r"(?:[ \t\r\n\v\f]|#[^\n]*)*",
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[fF]?)"
    r'|(?P<string>"(?:[^"\\\n]|\\[^\n])*"|\'(?:[^\'\\\n]|\\[^\n])*\')'
    r"|(?P<mark>[-{}<>\[\]:,;./])",
)
JSON_PATTERN = Pattern(
    r"[ \t\r\n]*",
    r"(?P<name>true|false|null)"
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
    r'|(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
    r"|(?P<mark>[{}\[\]:,])",
)


class TextParser:
    """Parses text-format Protobuf into lists of fields."""

    def __init__(self, text):
        self.tokens = Tokens(text, TEXT_PATTERN)

    def parse(self):
        return self.fields("", 0)

    def fields(self, close, depth):
        """Returns the fields up to a closing bracket, which is skipped, or to the end if ""."""
        tokens = self.tokens
        if depth > DEPTH_MAX:
            raise InputError(f"more than {DEPTH_MAX} nested messages", tokens.begin)
        found = []
        while not (tokens.kind == "end" if close == "" else tokens.is_mark(close)):
            found.append(self.field(close, depth))
        if close:
            tokens.advance()
        return found

    def field(self, close, depth):
        tokens = self.tokens
        field = Field(tokens.word, tokens.begin, tokens.end)
        if tokens.is_mark("["):  # an extension
            while not tokens.accept("]"):
                if tokens.kind not in ("name", "number") and not tokens.is_mark("[", ".", "/", "-"):
                    tokens.fail('"]" after the name of an extension')
                tokens.advance()
        elif tokens.kind == "name":
            tokens.advance()
        else:
            tokens.fail("a field" + (f' or "{close}"' if close else ""))
        colon = tokens.accept(":")
        if tokens.is_mark("["):
            self.list(field, depth)
        elif not self.message(field, depth):
            if not colon:
                tokens.fail(f'":" or "{{" after "{field.name}"')
            if tokens.kind == "name":
                field.value = (tokens.begin, tokens.end)
            self.scalar()
        tokens.accept(",", ";")
        return field

    def message(self, field, depth):
        """Parses a message; returns False if none begins here."""
        for mark, close in (("{", "}"), ("<", ">")):
            if self.tokens.accept(mark):
                field.messages.append(self.fields(close, depth + 1))
                return True
        return False

    def list(self, field, depth):
        tokens = self.tokens
        tokens.advance()
        if tokens.accept("]"):
            return
        while True:
            if not self.message(field, depth):
                self.scalar()
            if tokens.accept("]"):
                return
            if not tokens.accept(","):
                tokens.fail('"," or "]" in a list')

    def scalar(self):
        tokens = self.tokens
        if tokens.kind == "string":
            while tokens.kind == "string":
                tokens.advance()
            return
        tokens.accept("-")
        if tokens.kind not in ("name", "number"):
            tokens.fail("a value")
        tokens.advance()


class JsonParser:
    """Parses a JSON object into a list of fields."""

    def __init__(self, text):
        self.tokens = Tokens(text, JSON_PATTERN)

    def parse(self):
        if not self.tokens.accept("{"):
            self.tokens.fail('"{"')
        fields = self.object(0)
        if self.tokens.kind != "end":
            self.tokens.fail("the end of the file")
        return fields

    def object(self, depth):
        """Returns the fields of an object whose opening brace is skipped."""
        tokens = self.tokens
        if depth > DEPTH_MAX:
            raise InputError(f"more than {DEPTH_MAX} nested values", tokens.begin)
        found = []
        if tokens.accept("}"):
            return found
        while True:
            if tokens.kind != "string":
                tokens.fail("a name in quotes")
            begin, end = tokens.begin + 1, tokens.end - 1
            field = Field(unescape(tokens.text, begin, end)[0], begin, end)
            tokens.advance()
            if not tokens.accept(":"):
                tokens.fail(f'":" after "{field.name}"')
            if tokens.kind == "string":
                field.value = (tokens.begin + 1, tokens.end - 1)
            self.value(field, depth)
            found.append(field)
            if tokens.accept("}"):
                return found
            if not tokens.accept(","):
                tokens.fail('"," or "}"')

    def value(self, field, depth):
        tokens = self.tokens
        if depth > DEPTH_MAX:
            raise InputError(f"more than {DEPTH_MAX} nested values", tokens.begin)
        if tokens.accept("{"):
            field.messages.append(self.object(depth + 1))
        elif tokens.accept("["):
            if tokens.accept("]"):
                return
            self.value(field, depth + 1)
            while tokens.accept(","):
                self.value(field, depth + 1)
            if not tokens.accept("]"):
                tokens.fail('"," or "]"')
        elif tokens.kind in ("string", "number", "name"):
            tokens.advance()
        else:
            tokens.fail("a value")


def unescape(text, begin, end):
    """Returns the content of a JSON string, and the offset of each of its characters and its end.

    Characters are bytes, as everywhere here, except for those that are escaped with \\u.
    """
    short = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
    content, offsets = [], []
    at = begin
    while at < end:
        offsets.append(at)
        if text[at] != "\\":
            content.append(text[at])
            at += 1
        elif text[at + 1] == "u":
            content.append(chr(int(text[at + 2 : at + 6], 16)))
            at += 6
        else:
            content.append(short.get(text[at + 1], text[at + 1]))
            at += 2
    return "".join(content), offsets + [end]


def json_spelling(name):
    """Returns the usual spelling of a field in JSON: "held_rows" as "heldRows"."""
    return re.sub("_([a-z]?)", lambda found: found.group(1).upper(), name)


def proto_spelling(name):
    """Returns the spelling of a field in the schema: "heldRows" as "held_rows"."""
    return re.sub("[A-Z]", lambda found: "_" + found.group().lower(), name)


def has_proto_spelling(fields):
    """Returns whether the names in a JSON file are spelled as in the schema."""
    return any(
        "_" in field.name or any(has_proto_spelling(message) for message in field.messages)
        for field in fields
    )


class Renamer:
    """Collects the edits of one file."""

    def __init__(self, table, text, is_json, in_camel_case):
        self.table = table
        self.text = text
        self.is_json = is_json
        self.in_camel_case = in_camel_case
        self.edits = []

    def rename(self, fields, message):
        """Collects the edits of a message's fields; unknown messages do not change."""
        for field in fields:
            name = field.name
            if self.is_json and "_" not in name:
                name = proto_spelling(name)
            new = self.table.get(message, {}).get(name)
            if new is not None:
                self.rename_field(field, new)
                name = new
            if field.value is not None:
                self.rename_value(field, message, name)
            inner = MESSAGE_OF_FIELD.get(message, {}).get(name)
            if inner is not None:
                for nested in field.messages:
                    self.rename(nested, inner)

    def rename_field(self, field, new):
        new = json_spelling(new) if self.in_camel_case else new
        what = f'field "{field.name}" is now called "{new}"'
        self.edits.append(Edit(field.begin, field.end, new, what))

    def rename_value(self, field, message, name):
        content, offsets = unescape(self.text, *field.value)
        new = RENAMED_VALUES.get((message, name, content))
        if new is not None:
            what = f'value "{content}" of "{field.name}" is now called "{new}"'
            self.edits.append(Edit(*field.value, new, what))
        if (message, name) in EMBEDDED_FILES:
            self.rename_embedded(field.name, content, offsets, EMBEDDED_FILES[message, name])

    def rename_embedded(self, name, content, offsets, message):
        """Collects the edits of a file within a string."""
        inner = Renamer(self.table, content, False, False)
        try:
            inner.rename(TextParser(content).parse(), message)
        except InputError as error:
            line, column = locate(content, error.offset)
            what = f'{error.what} (line {line}, column {column} of "{name}")'
            raise InputError(what, offsets[error.offset])
        for edit in inner.edits:
            line, column = locate(content, edit.begin)
            what = f'{edit.description} (line {line}, column {column} of "{name}")'
            self.edits.append(Edit(offsets[edit.begin], offsets[edit.end], edit.new, what))


def recognize_text(table, text, fields):
    """Returns the message of a text-format file by its head or its fields."""
    head = re.match(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*?# proto-message: rigcal\.v1\.(\w+)\s", text)
    if head is not None and head.group(1) in TEXT_FILES:
        return head.group(1)
    counts = {}
    for message, names in TEXT_FILES.items():
        renamed = table.get(message, {})
        names = names.split()
        counts[message] = sum(renamed.get(field.name, field.name) in names for field in fields)
    most = max(counts.values())
    likeliest = [message for message, count in counts.items() if count == most]
    if most == 0 or len(likeliest) > 1:
        raise InputError(
            "cannot recognize the kind of the file; give --kind rig, scenario or study"
        )
    return likeliest[0]


def recognize_result(fields):
    """Returns the message of a result by its fields."""
    names = {proto_spelling(field.name) for field in fields}
    for name, message in RESULTS:
        if name in names:
            return message
    raise InputError("not a result of rigcal, by the fields of its JSON")


def find_edits(table, text, kind=None):
    """Returns the edits that convert a file, in the order of the text.

    kind: a key of KINDS; None: recognized by the content
    """
    is_json = kind == "result" or (kind is None and text.lstrip(" \t\r\n").startswith("{"))
    fields = (JsonParser if is_json else TextParser)(text).parse()
    if not fields:
        return []
    if is_json:
        message = recognize_result(fields)
    else:
        message = KINDS.get(kind) or recognize_text(table, text, fields)
    renamer = Renamer(table, text, is_json, is_json and not has_proto_spelling(fields))
    renamer.rename(fields, message)
    return sorted(renamer.edits, key=lambda edit: edit.begin)


def apply_edits(text, edits):
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.begin], edit.new]
        at = edit.end
    return "".join(parts) + text[at:]


def split_byte_order_mark(data):
    """Returns a byte order mark, if any, and the other bytes as one character each."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return mark, data[len(mark) :].decode("latin-1")


def convert(table, data, kind=None):
    """Returns the converted bytes of a file."""
    mark, text = split_byte_order_mark(data)
    return mark + apply_edits(text, find_edits(table, text, kind)).encode("latin-1")


def replace_file(path, data):
    """Writes a file in place of an earlier one, which is kept as FILE.bak."""
    path = Path(os.path.realpath(path))
    backup = path.with_name(path.name + ".bak")
    if backup.exists():
        raise InputError(f"{backup} exists already; move it away")
    handle, temporary = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(path, temporary)
        shutil.copy2(path, backup)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_result(arguments, path, data, converted):
    if arguments.in_place:
        if converted != data:
            replace_file(path, converted)
    elif arguments.output is None:
        sys.stdout.buffer.write(converted)
        sys.stdout.buffer.flush()
    else:
        output = Path(arguments.output)
        if output.is_dir():
            output = output / Path(path).name
        if output.exists() and os.path.samefile(output, path):
            raise InputError("the output is the input; use --in-place")
        output.write_bytes(converted)


def process(arguments, table, path):
    """Converts or checks one file. Returns its exit status."""
    text = ""
    try:
        data = Path(path).read_bytes()
        mark, text = split_byte_order_mark(data)
        edits = find_edits(table, text, arguments.kind)
        if not arguments.check:
            converted = mark + apply_edits(text, edits).encode("latin-1")
            write_result(arguments, path, data, converted)
            return 0
    except InputError as error:
        place = path
        if error.offset is not None:
            place += ":%d:%d" % locate(text, error.offset)
        print(f"{place}: {error.what}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename or path}: {error.strerror}", file=sys.stderr)
        return 2
    for edit in edits:
        line, column = locate(text, edit.begin)
        print(f"{path}:{line}:{column}: {edit.description}")
    return 1 if edits else 0


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="file to convert")
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--in-place", action="store_true", help="replace each file; keep the original as FILE.bak"
    )
    action.add_argument(
        "--output", metavar="PATH", help="file to write, or an existing folder for several files"
    )
    action.add_argument(
        "--check", action="store_true", help="list old fields with line and column; write nothing"
    )
    parser.add_argument(
        "--kind", choices=list(KINDS), help="kind of all files; default: recognized by content"
    )
    arguments = parser.parse_args(words)
    to_folder = arguments.output is not None and Path(arguments.output).is_dir()
    if len(arguments.files) > 1 and not (arguments.in_place or arguments.check or to_folder):
        parser.error("several files need --in-place, --check, or an existing folder as --output")
    return arguments


def main(words=None):
    arguments = parse_arguments(words)
    try:
        table = read_table()
    except InputError as error:
        print(f"convert_old_files.py: {error.what}", file=sys.stderr)
        return 2
    return max(process(arguments, table, path) for path in arguments.files)


if __name__ == "__main__":
    sys.exit(main())
