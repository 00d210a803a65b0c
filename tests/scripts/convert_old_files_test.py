"""Tests of scripts/convert_old_files.py. old_files/ holds configs with the names of version 0.1.

Together with Text.test_fields_that_old_configs_lack, they have every renamed field of a config.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SCRIPT = ROOT / "scripts/convert_old_files.py"
OLD_FILES = sorted((FOLDER / "old_files").glob("*.textproto"))


def load_script():
    spec = importlib.util.spec_from_file_location("convert_old_files", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()
TABLE = script.read_table()


def convert(text, kind=None):
    return script.convert(TABLE, text.encode(), kind).decode()


def words_of(text):
    """Returns the tokens of a text-format file without comments."""
    tokens = script.Tokens(text, script.TEXT_PATTERN)
    words = []
    while tokens.kind != "end":
        words.append(tokens.word)
        tokens.advance()
    return words


def current_config(name):
    """Returns the path of the repository's file of that name."""
    for folder in ("configs", "tests"):
        for path in sorted((ROOT / folder).rglob(name)):
            if path.parent != FOLDER / "old_files":
                return path
    raise AssertionError(f"no file {name} in configs or tests")


class Configs(unittest.TestCase):
    # Detects a field that the converter misses or renames although the schema does not.
    def test_old_configs_convert_to_the_current_ones(self):
        self.assertEqual(len(OLD_FILES), 7)
        for path in OLD_FILES:
            with self.subTest(path.name):
                converted = convert(path.read_text())
                # Studies have moved, so they refer to rig files by another path.
                current = current_config(path.name).read_text().replace("../../../configs/", "")
                self.assertEqual(words_of(converted), words_of(current))

    # Detects edits of anything but names: all other tokens, comments and spaces remain.
    def test_only_names_of_fields_change(self):
        new_names = {new: old for names in TABLE.values() for old, new in names.items()}
        self.assertTrue(new_names)
        for path in OLD_FILES:
            with self.subTest(path.name):
                text = path.read_text()
                edits = script.find_edits(TABLE, text)
                self.assertTrue(edits)
                end = 0
                converted, rest = convert(text), ""
                for edit in edits:
                    old = text[edit.begin : edit.end]
                    self.assertRegex(old, r"^\w+$")
                    self.assertIn(edit.new, new_names)
                    rest += text[end : edit.begin] + edit.new
                    end = edit.end
                self.assertEqual(converted, rest + text[end:])

    def test_conversion_is_idempotent(self):
        for path in OLD_FILES:
            with self.subTest(path.name):
                converted = convert(path.read_text())
                self.assertEqual(convert(converted), converted)

    # Detects a kind of file that is only recognized by its first comment.
    def test_files_without_comments_are_recognized(self):
        for path in OLD_FILES:
            with self.subTest(path.name):
                lines = path.read_text().splitlines(keepends=True)
                text = "".join(line for line in lines if not line.startswith("#"))
                self.assertEqual(words_of(convert(text)), words_of(convert(path.read_text())))


class Schemas(unittest.TestCase):
    """Compares the script's tables with the schemas."""

    FIELD = re.compile(r"^(?:repeated |optional )?([\w.]+) (\w+) = \d+")

    def messages(self):
        """Returns {message: {field: type}} of all schemas, names as "StudyLeg.Draw".

        An enumeration is a message without fields.
        """
        found = {"OptionsResult": {}}  # older results had this message for their options
        studies = ROOT / "tests/studies/study.proto"
        for path in [*sorted((ROOT / "proto").glob("*.proto")), studies]:
            open_blocks = []
            for line in path.read_text().splitlines():
                code = line.split("//")[0].strip()
                block = re.match(r"(message|enum|oneof) (\w+) \{", code)
                name = ".".join(name for kind, name in open_blocks if kind == "message")
                if block:
                    open_blocks.append(block.groups())
                    if block.group(1) != "oneof":
                        found[f"{name}.{block.group(2)}" if name else block.group(2)] = {}
                if field := self.FIELD.match(code):
                    kind = field.group(1).replace("google.protobuf.Struct", "OptionsResult")
                    found[name][field.group(2)] = kind
                open_blocks = open_blocks[: len(open_blocks) - code.count("}")]
        return found

    def resolve(self, messages, outer, type_name):
        """Returns the full name of a field's message or enumeration; None for other types."""
        for name in (f"{outer}.{type_name}", f"{outer.split('.')[0]}.{type_name}", type_name):
            if name in messages:
                return name
        return None

    # Detects a way to a renamed field that the script does not know.
    def test_every_renamed_field_is_reached(self):
        messages = self.messages()
        reached = {}
        values = {message for message, _, _ in script.RENAMED_VALUES}
        embedding = {message for message, _ in script.EMBEDDED_FILES}
        wanted = set(TABLE) | values | embedding

        def leads_to_renamed(name, above=()):
            if name in above:
                return False
            if name not in reached or above:
                inner = [self.resolve(messages, name, kind) for kind in messages[name].values()]
                result = name in wanted or any(
                    leads_to_renamed(each, above + (name,)) for each in inner if each
                )
                reached[name] = result
            return reached[name]

        def check(name, checked):
            if name in checked:
                return
            checked.add(name)
            for field, kind in messages[name].items():
                inner = self.resolve(messages, name, kind)
                if inner and leads_to_renamed(inner):
                    with self.subTest(f"{name}.{field}"):
                        self.assertEqual(
                            script.MESSAGE_OF_FIELD.get(name, {}).get(field), inner
                        )
                    check(inner, checked)

        roots = list(script.TEXT_FILES) + [message for _, message in script.RESULTS]
        checked = set()
        for root in roots:
            check(root, checked)
        # Only the runs that a study stores are no file to convert: they are computed again.
        self.assertEqual(set(TABLE) - checked, {"StudyRunRecord"})

    def test_tables_name_fields_of_the_schemas(self):
        messages = self.messages()
        for name, fields in script.MESSAGE_OF_FIELD.items():
            for field, inner in fields.items():
                with self.subTest(f"{name}.{field}"):
                    self.assertEqual(
                        self.resolve(messages, name, messages[name].get(field, "")), inner
                    )
        for name, fields in script.TEXT_FILES.items():
            with self.subTest(name):
                self.assertEqual(set(fields.split()), set(messages[name]))
        for field, name in script.RESULTS:
            with self.subTest(name):
                self.assertIn(field, messages[name])


class Text(unittest.TestCase):
    def test_strings_and_comments_are_kept(self):
        self.assertEqual(
            convert('# hinge { }\nhinge { name: "hinge \\" hinge: " } # hinge\nname: \'hinge "\''),
            '# hinge { }\njoint { name: "hinge \\" hinge: " } # hinge\nname: \'hinge "\'',
        )

    def test_name_in_a_message_without_that_field_is_kept(self):
        text = 'body { hinge: "a" inertia { hinge { kind: 1 } } } later { hinge: "b" } hinge_: 1'
        self.assertEqual(convert(text, "rig"), text)

    # Detects a field that is renamed because another message has it.
    def test_same_name_in_two_messages(self):
        self.assertEqual(
            convert(
                "hinge { kind: FIXED friction { load { } } } recording { load { axis: TORQUE } }"
            ),
            "joint { type: FIXED friction { load { } } } "
            "recording { force_torque { axis: TORQUE } }",
        )
        self.assertEqual(convert("kind: ARM title: \"a\""), "kind: ARM title: \"a\"")

    def test_fields_that_old_configs_lack(self):
        self.assertEqual(
            convert(
                "body { drawing_deviation_percent: 30 } "
                "hinge { assembled_at: 0.2 friction { smooth { } creep_speed: 1 } }"
            ),
            "body { cad_uncertainty_percent: 30 } "
            "joint { assembly_guess: 0.2 friction { makkar { } transition_speed: 1 } }",
        )
        self.assertEqual(
            convert("joint { prescribed: true } joint { prescribed : false # false\n }", "rig"),
            "joint { motion: PRESCRIBED } joint { motion : DYNAMIC # false\n }",
        )

    def test_notations_of_messages(self):
        self.assertEqual(
            convert(
                "hinge: {follows:<hinge:'a';ratio:-1.5e-3f,>}, "
                "unit<channel:[{hinge:\"a\"},<hinge:'b' 'c'>]>"
            ),
            "joint: {mimic:<joint:'a';ratio:-1.5e-3f,>}, "
            "unit<channel:[{joint:\"a\"},<joint:'b' 'c'>]>",
        )
        self.assertEqual(
            convert("safety { hinge { jump_m_max: -inf unaffected_by_motors: true } hinge { } }"),
            "safety { joint { jump_m_max: -inf may_stand_still: true } joint { } }",
        )
        self.assertEqual(
            convert(
                "[example.org/a.B] { hinge: 1 } body { only_in: ['a', \"b\"] only_in: [] }", "rig"
            ),
            "[example.org/a.B] { hinge: 1 } "
            "body { present_in_recordings: ['a', \"b\"] present_in_recordings: [] }",
        )

    def test_bytes_around_names_are_kept(self):
        old = b"\xef\xbb\xbf# m\xc3\xa5tt \xff\r\n\thinge {\r\n\t}\r\n\r\n"
        self.assertEqual(script.convert(TABLE, old), old.replace(b"hinge", b"joint"))
        self.assertEqual(script.convert(TABLE, b""), b"")

    def test_kind_of_file(self):
        scenario = "limits { hinge { } } duration_s: 1"
        self.assertEqual(convert(scenario), scenario.replace("hinge", "joint"))
        with self.assertRaisesRegex(script.InputError, "give --kind"):
            convert('name: "a"')
        self.assertEqual(convert('name: "a"', "scenario"), 'name: "a"')
        simulation = "pendulum { } hand { hold_s: 1 }"
        self.assertEqual(convert(simulation), simulation)

    def test_faults_have_a_location(self):
        for text, line, column, what in [
            ("hinge {\n  name: }", 2, 9, 'expected a value, found "}"'),
            ("hinge {\n\tname \"a\" }", 2, 14, 'expected ":" or "{" after "name", found'),
            ('hinge { name: "a\n" }', 1, 15, "a string is not closed"),
            ("hinge {\n", 2, 1, 'expected a field or "}", found the end of the file'),
            ("hinge { } }", 1, 11, 'expected a field, found "}"'),
            ("unit { channel: [{ } { }] }", 1, 22, 'expected "," or "]" in a list'),
            ("hinge { @ }", 1, 9, "unexpected character '@'"),
            ("a { " * 200, 1, 405, "more than 100 nested messages"),
        ]:
            with self.subTest(text), self.assertRaises(script.InputError) as caught:
                convert(text, "rig")
            self.assertEqual(script.locate(text, caught.exception.offset), (line, column))
            self.assertTrue(caught.exception.what.startswith(what), caught.exception.what)


RESULT = """{
 "rig": "hinge",
 "parameters": [ {"name": "1.b", "value": 1.50, "upper": "Infinity"} ],
 "simulation": [{"hinge":"1"}, {"hinge" : "2"}],
 "tied": [], "kept": [{"name": "kept"}], "withheld": [{"hinge": "1", "narrowing": 1E+1}],
 "contradictions": [{"kept": 0.10, "moved": "\\u00e5"}],
 "recordings": [{"file": "heldRows", "heldRows": 0}],
 "verdict": {"kind": "explains-nothing", "sentence": "explains-nothing"},
 "provenance": {
  "rig": {"sha256": "00ff"}, "withhold": ["hinge"], "options": {"approach": false},
  "rigText": "name: \\"\\u00e5\\" # hinge \\ud83d\\ude00\\r\\nhinge {\\n\\tkind: FIXED\\n}"
 }
}
"""
CONVERTED_RESULT = """{
 "rig": "hinge",
 "parameters": [ {"name": "1.b", "value": 1.50, "upper": "Infinity"} ],
 "simulation": [{"joint":"1"}, {"joint" : "2"}],
 "dependent": [], "fixed": [{"name": "kept"}], "heldOut": [{"joint": "1", "deviationRatio": 1E+1}],
 "contradictions": [{"kept": 0.10, "mostAffectedParameter": "\\u00e5"}],
 "recordings": [{"file": "heldRows", "rowsBeforeRelease": 0}],
 "verdict": {"kind": "no-fit", "sentence": "explains-nothing"},
 "provenance": {
  "rig": {"sha256": "00ff"}, "holdOut": ["hinge"], "options": {"startFromPhysical": false},
  "rigText": "name: \\"\\u00e5\\" # hinge \\ud83d\\ude00\\r\\njoint {\\n\\ttype: FIXED\\n}"
 }
}
"""


class Results(unittest.TestCase):
    def test_names_values_and_rig_text_are_converted(self):
        self.assertEqual(convert(RESULT), CONVERTED_RESULT)
        self.assertEqual(convert(CONVERTED_RESULT), CONVERTED_RESULT)
        rig_text = json.loads(CONVERTED_RESULT)["provenance"]["rigText"]
        self.assertEqual(rig_text, 'name: "\u00e5" # hinge \U0001f600\r\njoint {\n\ttype: FIXED\n}')

    # rigcal-daq commission writes names as in the schema.
    def test_spelling_of_the_schema_is_kept(self):
        self.assertEqual(
            convert('{"rig_file_sha256": "", "joint": [{"counted_share": 1}]}'),
            '{"rig_file_sha256": "", "joint": [{"count_ratio": 1}]}',
        )
        self.assertEqual(
            convert('{"parameters": [], "wall_time_s": 1, "tied": [], "withheld": []}'),
            '{"parameters": [], "wall_time_s": 1, "dependent": [], "held_out": []}',
        )

    def test_other_results(self):
        for old, new in [
            ('{"laws": [], "pieces": [], "folds": 2, "alike": []}',
             '{"laws": [], "parts": [], "folds": 2, "indistinguishableLaws": []}'),
            ('{"windows": [], "stillWindows": 1, "parameters": []}',
             '{"windows": [], "motionlessWindows": 1, "parameters": []}'),
            ('{"folds": [{"simulation": [{"hinge": ""}]}], "pieces": [], "parameters": []}',
             '{"folds": [{"simulation": [{"joint": ""}]}], "parts": [], "parameters": []}'),
            ('{"worst": "", "recordings": [{"heldRows": 1}], "findings": []}',
             '{"worst": "", "recordings": [{"rowsBeforeRelease": 1}], "findings": []}'),
        ]:
            with self.subTest(old):
                self.assertEqual(convert(old), new)

    def test_faults_have_a_location(self):
        for text, line, column, what in [
            ('{"parameters": [,]}', 1, 17, 'expected a value, found ","'),
            ('{"parameters": []\n "tied": []}', 2, 2, 'expected "," or "}"'),
            ('{"parameters": [1}', 1, 18, 'expected "," or "]"'),
            ('{"parameters"', 1, 14, 'expected ":" after "parameters", found the end of the file'),
            ('{"a": "\\x"}', 1, 7, "a string is not closed on its line, or has a wrong escape"),
            ('{"a": 1} 2', 1, 10, "expected the end of the file"),
        ]:
            with self.subTest(text), self.assertRaises(script.InputError) as caught:
                convert(text)
            self.assertEqual(script.locate(text, caught.exception.offset), (line, column))
            self.assertTrue(caught.exception.what.startswith(what), caught.exception.what)

    def test_fault_in_the_rig_text_has_both_locations(self):
        text = '{"parameters": [],\n"provenance": {"rigText": "name: \\"a\\"\\nhinge }"}}'
        with self.assertRaises(script.InputError) as caught:
            convert(text)
        self.assertEqual(script.locate(text, caught.exception.offset), (2, 47))
        self.assertIn('(line 2, column 7 of "rigText")', caught.exception.what)

    def test_json_of_another_program_is_refused(self):
        with self.assertRaisesRegex(script.InputError, "not a result of rigcal"):
            convert('{"hinge": 1}')


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def run_script(self, *words):
        return subprocess.run(
            [sys.executable, "-B", str(SCRIPT), *words],
            cwd=self.folder, capture_output=True, text=True, check=False,
        )

    def test_default_prints(self):
        run = self.run_script(self.write("r.textproto", "hinge { }\n"))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "joint { }\n", ""))
        self.assertEqual((self.folder / "r.textproto").read_text(), "hinge { }\n")

    def test_in_place_keeps_the_original(self):
        self.write("old.textproto", "hinge { }\n")
        self.write("new.textproto", "joint { }\n")
        run = self.run_script("--in-place", "old.textproto", "new.textproto")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        self.assertEqual((self.folder / "old.textproto").read_text(), "joint { }\n")
        self.assertEqual((self.folder / "old.textproto.bak").read_text(), "hinge { }\n")
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(names, ["new.textproto", "old.textproto", "old.textproto.bak"])
        self.write("old.textproto", "hinge { }\n")
        run = self.run_script("--in-place", "old.textproto")
        self.assertEqual(run.returncode, 2)
        self.assertIn("old.textproto.bak exists already", run.stderr)
        self.assertEqual((self.folder / "old.textproto").read_text(), "hinge { }\n")

    def test_output(self):
        self.write("r.textproto", "hinge { }")
        self.assertEqual(self.run_script("r.textproto", "--output", "new").returncode, 0)
        self.assertEqual((self.folder / "new").read_text(), "joint { }")
        run = self.run_script("r.textproto", "--output", "r.textproto")
        self.assertEqual(run.returncode, 2)
        self.assertIn("use --in-place", run.stderr)
        self.write("s.textproto", "duration_s: 1 initial { hinge: \"1\" }")
        self.assertEqual(self.run_script("r.textproto", "s.textproto").returncode, 2)
        (self.folder / "out").mkdir()
        run = self.run_script("r.textproto", "s.textproto", "--output", "out")
        self.assertEqual(run.returncode, 0)
        self.assertIn("initial { joint:", (self.folder / "out/s.textproto").read_text())

    def test_check_lists_old_fields(self):
        self.write("r.textproto", "name: \"a\"\n  hinge { kind: FIXED }\n")
        self.write("new.textproto", "joint { }")
        run = self.run_script("--check", "r.textproto", "new.textproto")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(
            run.stdout,
            'r.textproto:2:3: field "hinge" is now called "joint"\n'
            'r.textproto:2:11: field "kind" is now called "type"\n',
        )
        self.assertEqual(self.run_script("--check", "new.textproto").returncode, 0)
        run = self.run_script("--check", self.write("r.json", RESULT))
        self.assertIn(
            'r.json:11:56: field "hinge" is now called "joint" (line 2, column 1 of "rigText")\n',
            run.stdout,
        )
        self.assertIn(
            'r.json:8:23: value "explains-nothing" of "kind" is now called "no-fit"\n', run.stdout
        )

    def test_faults_end_with_status_2(self):
        self.write("bad.textproto", "hinge {\n  name }")
        self.write("r.textproto", "hinge { }")
        run = self.run_script("--in-place", "bad.textproto", "none.textproto", "r.textproto")
        self.assertEqual(run.returncode, 2)
        self.assertEqual(
            run.stderr,
            'bad.textproto:2:8: expected ":" or "{" after "name", found "}"\n'
            "none.textproto: No such file or directory\n",
        )
        self.assertEqual((self.folder / "r.textproto").read_text(), "joint { }")
        self.assertEqual(self.run_script("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
