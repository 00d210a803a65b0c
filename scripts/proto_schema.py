"""Reads the Protobuf schemas of rigcal: messages, enumerations, fields and their comments."""

import re
from dataclasses import dataclass, field
from pathlib import Path

TOKEN = re.compile(r"//[^\n]*|\"[^\"]*\"|[\w.]+|[{}()\[\]=;,<>]|\n")
NUMBER_KINDS = {"double", "float"}
WHOLE_KINDS = {"int32", "int64", "uint32", "uint64", "sint32", "sint64"}


@dataclass
class Field:
    """A field of a message, or a value of an enumeration."""

    name: str
    kind: str = ""
    label: str = ""  #: "repeated", "optional" or ""
    comment: list = field(default_factory=list)
    where: str = ""  #: "FILE:LINE"


@dataclass
class Type:
    """A message or an enumeration."""

    name: str  #: with the names of the enclosing messages: "Joint.Type"
    is_enum: bool
    comment: list = field(default_factory=list)
    fields: list = field(default_factory=list)
    where: str = ""


class Reader:
    """Reads one schema file into types."""

    def __init__(self, path, name, types):
        self.tokens = []  # (token, line); comments and line ends included
        line = 1
        for match in TOKEN.finditer(path.read_text(encoding="utf-8")):
            self.tokens.append((match.group(), line))
            line += match.group() == "\n"
        self.name = name
        self.types = types
        self.at = 0
        self.comment = []  # comment lines directly above the next token
        self.blank = True  # the current line has no token yet

    def next(self):
        """Returns the next token that is neither comment nor line end; "" at the end."""
        while self.at < len(self.tokens):
            token, _ = self.tokens[self.at]
            self.at += 1
            if token == "\n":
                if self.blank:
                    self.comment = []
                self.blank = True
            elif token.startswith("//"):
                self.comment.append(token[2:].removeprefix(" ").rstrip())
                self.blank = False
            else:
                self.blank = False
                return token
        return ""

    def trailing_comment(self):
        """Returns the comment on the rest of the line, as a list of lines."""
        if self.at < len(self.tokens) and self.tokens[self.at][0].startswith("//"):
            self.at += 1
            return [self.tokens[self.at - 1][0][2:].strip()]
        return []

    def take_comment(self):
        comment, self.comment = self.comment, []
        return comment

    def where(self):
        return f"{self.name}:{self.tokens[self.at - 1][1]}"

    def read(self):
        while token := self.next():
            if token in ("message", "enum"):
                self.read_type(token == "enum", "")
            else:
                self.skip_statement()

    def skip_statement(self):
        while self.next() not in (";", ""):
            pass
        self.comment = []

    def read_type(self, is_enum, outer):
        comment, where = self.take_comment(), self.where()
        added = Type(outer + self.next(), is_enum, comment, [], where)
        self.types[added.name] = added
        self.next()  # {
        self.trailing_comment()
        self.read_body(added)

    def read_body(self, into):
        while (token := self.next()) != "}":
            if token in ("message", "enum"):
                self.read_type(token == "enum", into.name + ".")
            elif token == "oneof":
                self.next(), self.next()  # its name, {
                self.comment = []
                self.read_body(into)
            elif token in ("option", "reserved"):
                self.skip_statement()
            else:
                self.read_field(into, token)

    def read_field(self, into, token):
        comment, where = self.take_comment(), self.where()
        words = [token]
        while (token := self.next()) != "=":
            words.append(token)
        while self.next() != ";":
            pass
        comment = comment + self.trailing_comment()
        name = words.pop()
        label = words.pop(0) if words and words[0] in ("repeated", "optional") else ""
        into.fields.append(Field(name, "".join(words), label, comment, where))


def read_schemas(folder):
    """Returns all types of the .proto files in a folder, by name, in the order of the files."""
    types = {}
    for path in sorted(Path(folder).glob("*.proto")):
        Reader(path, f"proto/{path.name}", types).read()
    return types


def resolve(types, inside, kind):
    """Returns the name of the type that a field in the message `inside` refers to; "" if none."""
    for scope in (inside + ".", inside.rpartition(".")[0] + ".", ""):
        if scope.lstrip(".") + kind in types:
            return scope.lstrip(".") + kind
    return ""


def read_ranges(path):
    """Returns the allowed ranges of numbers by "Message.field", as (min, max, is min excluded)."""
    text = path.read_text(encoding="utf-8")
    numbers = {"kInf": float("inf")}

    def number(word):
        word = word.strip().replace("'", "")
        return numbers[word] if word in numbers else float(word)

    for name, value in re.findall(r"constexpr double (k\w+) = ([\d.e']+);", text):
        numbers[name] = number(value)
    ranges = {}
    rows = r"\b(between|within|up_to|above_zero)\(\"([\w.]+)\.([\w ]+)\",\s+([^)]+)\)"
    for row, message, fields, arguments in re.findall(rows, text):
        limits = [number(word) for word in arguments.split(",")]
        for field in fields.split():
            ranges[f"{message}.{field}"] = {
                "between": lambda a, b=None: (a, b, False),
                "within": lambda a: (-a, a, False),
                "up_to": lambda a: (0.0, a, False),
                "above_zero": lambda a: (0.0, a, True),
            }[row](*limits)
    return ranges
