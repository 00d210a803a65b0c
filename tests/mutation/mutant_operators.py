"""Finds the places of C and C++ sources where a mistake can be made, from clang's syntax tree.

A mutant wraps one or two ranges of the source text such that a switch chooses between the original
and the mistake: `(mutant_is(7) ? (a <= b) : (a < b))`. Ranges of different mutants are nested or
disjoint, as nodes of a syntax tree are.

No mutants are made in constant expressions (constexpr, static_assert, case labels, template
arguments, array bounds), in declarations outside functions, default member initializers, default
arguments and macros.
"""

import dataclasses
import re
import sys

try:
    from clang import cindex
except ImportError:  # Debian's package is for /usr/bin/python3, and works in other interpreters
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        from clang import cindex
    except ImportError:
        cindex = None

NUMBER = "@NUMBER@"  # stands for the number of the mutant in texts of wraps
BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
EQUALITIES = {"==": "!=", "!=": "=="}
CONNECTIVES = {"&&": "||", "||": "&&"}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
CLIPPING = {"abs", "fabs", "labs", "llabs", "min", "max", "fmin", "fmax", "clamp"}
SYMMETRIC = CLIPPING | {"hypot", "swap", "gcd", "lcm", "isApprox"}  # swaps change nothing, mostly
RESETS = {"clear", "reset", "setZero", "setConstant", "fill"}
FUNCTIONS = {"FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION",
             "FUNCTION_TEMPLATE"}
CONTAINERS = {"TRANSLATION_UNIT", "NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL", "CLASS_DECL",
              "STRUCT_DECL", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION"}
CASTS = {"CXX_STATIC_CAST_EXPR", "CXX_REINTERPRET_CAST_EXPR", "CXX_CONST_CAST_EXPR",
         "CXX_DYNAMIC_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR", "CSTYLE_CAST_EXPR"}
INTEGERS = {"INT", "UINT", "LONG", "ULONG", "LONGLONG", "ULONGLONG", "SHORT", "USHORT"}
UNEVALUATED = {"UNKNOWN", "CXX_UNARY_EXPR", "CXX_NOEXCEPT_EXPR", "CXX_TYPEID_EXPR"}


@dataclasses.dataclass(frozen=True, order=True)
class Wrap:
    """Text before and behind a range of the source [bytes]."""

    start: int
    end: int
    prefix: str
    suffix: str


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    file: str  # path within the tree
    start: int  # of the range that `before` shows [bytes]
    operator: str
    after: str
    before: str
    function: str
    line: int
    wraps: tuple

    def key(self):
        """Identifies the mutant while other parts of the file change."""
        return (self.file, self.function, self.operator, self.before, self.after)


def flat(text):
    """One line without comments, for text that is inserted: line numbers stay as they are."""
    parts = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
    return " ".join(parts.sub(lambda found: found.group(1) or " ", text).split())


def kind_of(cursor):
    """Name of a cursor's kind; Python's bindings do not list concepts and requirements."""
    try:
        return cursor.kind.name
    except ValueError:
        return "UNKNOWN"


def is_expression(cursor):
    return kind_of(cursor) == "UNKNOWN" or cursor.kind.is_expression()


def is_declaration(cursor):
    return kind_of(cursor) != "UNKNOWN" and cursor.kind.is_declaration()


def choose_either(mutated, original=None):
    """A wrap's text that selects between two expressions."""
    behind = "))" if original is None else f"{original}))"
    return f"(mutant_is({NUMBER}) ? ({mutated}) : (", behind


class Finder:
    """Collects the mutants of the given files from one translation unit."""

    def __init__(self, unit, sources, name_of):
        """sources: text [bytes] by path as clang spells it; name_of: path within the tree."""
        self.unit = unit
        self.sources = sources
        self.name_of = name_of
        self.found = {}
        self.negated = set()
        self.macros = {}
        for cursor in unit.cursor.get_children():
            if kind_of(cursor) == "MACRO_INSTANTIATION":
                path = self.path_of(cursor)
                if path in sources:
                    place = (cursor.extent.start.offset, cursor.extent.end.offset)
                    self.macros.setdefault(path, []).append(place)

    def run(self):
        for cursor in self.unit.cursor.get_children():
            if self.path_of(cursor) in self.sources:
                self.visit_declaration(cursor)
        return sorted(self.found.values())

    @staticmethod
    def path_of(cursor):
        return cursor.location.file.name if cursor.location.file else None

    def visit_declaration(self, cursor):
        kind = kind_of(cursor)
        if kind in CONTAINERS:
            for child in cursor.get_children():
                if is_declaration(child) and self.path_of(child) in self.sources:
                    self.visit_declaration(child)
        elif kind in FUNCTIONS and cursor.is_definition():
            FunctionFinder(self, cursor).run()


class FunctionFinder:
    """Collects the mutants of one function."""

    def __init__(self, finder, cursor):
        self.finder = finder
        self.cursor = cursor
        self.path = finder.path_of(cursor)
        self.source = finder.sources[self.path]
        self.macros = finder.macros.get(self.path, [])
        parent = cursor.semantic_parent
        is_member = parent is not None and kind_of(parent).startswith(("CLASS", "STRUCT"))
        scope = parent.spelling + "::" if is_member else ""
        self.name = scope + cursor.spelling

    def run(self):
        head = self.source[self.cursor.extent.start.offset : self.cursor.location.offset]
        if re.search(rb"\b(constexpr|consteval)\b", head):
            return
        for child in self.cursor.get_children():
            if kind_of(child) == "COMPOUND_STMT":
                self.visit_body(child)
            elif is_expression(child):  # initializer of a constructor
                self.visit(child)

    # Text and ranges.

    def range_of(self, cursor):
        extent = cursor.extent
        inside = extent.start.file and extent.start.file.name == self.path
        return (extent.start.offset, extent.end.offset) if inside else (0, 0)

    def text(self, start, end):
        return flat(self.source[start:end].decode())

    def text_of(self, cursor):
        return self.text(*self.range_of(cursor))

    def may_be_wrapped(self, start, end):
        text = self.source[start:end]
        if not 0 < start < end or b"\n#" in text or b'R"' in text:
            return False
        return not any(start < last and first < end and not (start <= first and last <= end)
                       or first <= start and end <= last for first, last in self.macros)

    def add(self, operator, shown, after, *wraps):
        """Adds a mutant of the shown range; wraps are (start, end, (prefix, suffix))."""
        wraps = tuple(Wrap(start, end, *texts) for start, end, texts in wraps)
        if not all(self.may_be_wrapped(wrap.start, wrap.end) for wrap in wraps):
            return
        before = self.text(*shown)
        if before == after:
            return
        line = self.source.count(b"\n", 0, shown[0]) + 1
        mutant = Mutant(self.finder.name_of(self.path), shown[0], operator, after, before,
                        self.name, line, wraps)
        self.finder.found.setdefault((self.path, wraps), mutant)

    def replace(self, operator, cursor, after):
        """Adds a mutant that replaces an expression."""
        place = self.range_of(cursor)
        self.add(operator, place, after, (*place, choose_either(after)))

    def drop(self, operator, place):
        self.add(operator, place, "", (*place, (f"{{ if (!mutant_is({NUMBER})) {{ ", " } }")))

    # Statements.

    def visit_body(self, body):
        """The body of a function or lambda. A return may be dropped if another one follows."""
        statements = list(body.get_children())
        last = statements[-1] if statements else None
        always_returns = last is not None and kind_of(last) in ("RETURN_STMT", "CXX_THROW_EXPR")
        for statement in statements:
            self.visit_statement(statement, always_returns, is_last=statement == last)

    def visit_statement(self, cursor, always_returns, is_last=False):
        kind = kind_of(cursor)
        start, end = self.range_of(cursor)
        if kind in ("BREAK_STMT", "CONTINUE_STMT"):
            if not is_last:
                self.drop("break or continue dropped", self.with_semicolon(start, end))
        elif kind in ("RETURN_STMT", "CXX_THROW_EXPR"):
            returns_value = kind == "RETURN_STMT" and any(cursor.get_children())
            if not is_last and (always_returns or not returns_value):
                self.drop("early return dropped", self.with_semicolon(start, end))
            self.visit_children(cursor, always_returns)
        elif is_expression(cursor):
            self.visit_effect(cursor, start, end)
            self.visit(cursor, always_returns)
        elif kind == "COMPOUND_STMT":
            for statement in cursor.get_children():
                self.visit_statement(statement, always_returns)
        elif kind in ("IF_STMT", "WHILE_STMT", "DO_STMT", "FOR_STMT", "CXX_FOR_RANGE_STMT"):
            self.visit_branch(cursor, kind, always_returns)
        elif kind == "SWITCH_STMT":
            *heads, body = cursor.get_children()
            for head in heads:
                self.visit(head, always_returns)
            labelled = list(body.get_children())
            for statement in labelled:
                self.visit_statement(statement, always_returns,
                                     statement == labelled[-1] and
                                     kind_of(statement) == "BREAK_STMT")
        elif kind == "CASE_STMT":
            for statement in list(cursor.get_children())[1:]:
                self.visit_statement(statement, always_returns)
        elif kind in ("DEFAULT_STMT", "LABEL_STMT", "CXX_TRY_STMT", "CXX_CATCH_STMT",
                      "UNEXPOSED_STMT"):
            for statement in cursor.get_children():
                if not is_declaration(statement):
                    self.visit_statement(statement, always_returns)
        elif kind == "DECL_STMT":
            self.visit_children(cursor, always_returns)

    def visit_branch(self, cursor, kind, always_returns):
        """Conditions and ranges are expressions; a body may be one too."""
        children = list(cursor.get_children())
        start, _ = self.range_of(cursor)
        if kind == "IF_STMT":
            condition = next(n for n, c in enumerate(children) if is_expression(c))
            heads = children[: condition + 1]
            if re.match(rb"if\s+(constexpr|consteval)\b", self.source[start:]):
                heads = []
            bodies = children[condition + 1 :]
        elif kind == "DO_STMT":
            bodies, heads = children[:1], children[1:]
        else:
            heads, bodies = children[:-1], children[-1:]
        declares = any(kind_of(c) == "VAR_DECL" for c in heads)
        if kind in ("IF_STMT", "WHILE_STMT") and heads and not declares:
            self.negate(heads[-1])
        for head in heads:
            self.visit(head, always_returns)
        for body in bodies:
            self.visit_statement(body, always_returns)

    def with_semicolon(self, start, end):
        found = re.match(rb"\s*;", self.source[end:])
        return (start, end + found.end()) if found else (0, 0)

    def visit_effect(self, cursor, start, end):
        """An expression that is a statement: its effect can be dropped."""
        node = cursor
        while kind_of(node) == "UNEXPOSED_EXPR":
            children = list(node.get_children())
            if len(children) != 1:
                break
            node = children[0]
        text = self.text(start, end)
        is_macro = any(first == start for first, _ in self.macros)  # assert and the like
        if is_macro or text.startswith(("(void)", "static_cast<void>")):
            return
        is_reset = re.search(r"[^=!<>]=\s*(\{\}|\w*\{\}|0|0\.0|false|nullptr|std::nullopt)$", text)
        if is_reset or kind_of(node) == "CALL_EXPR" and node.spelling in RESETS:
            operator = "reset dropped"
        elif kind_of(node) == "CALL_EXPR" and not node.spelling.startswith("operator"):
            operator = "call dropped"
        else:
            operator = "statement dropped"
        self.drop(operator, self.with_semicolon(start, end))

    # Expressions.

    def visit_children(self, cursor, always_returns=True):
        for child in cursor.get_children():
            self.visit(child, always_returns)

    def visit_variable(self, cursor, always_returns):
        start, end = self.range_of(cursor)
        name = cursor.location.offset
        if re.search(rb"\b(constexpr|static|constinit|thread_local)\b", self.source[start:name]):
            return
        is_array = "ARRAY" in cursor.type.kind.name
        for child in cursor.get_children():
            if is_expression(child) and self.range_of(child)[0] > name and \
                    (not is_array or kind_of(child) == "INIT_LIST_EXPR"):
                self.visit(child, always_returns)

    def visit(self, cursor, always_returns=True):
        kind = kind_of(cursor)
        if kind == "VAR_DECL":
            self.visit_variable(cursor, always_returns)
        elif kind == "LAMBDA_EXPR":
            for child in cursor.get_children():
                if kind_of(child) == "COMPOUND_STMT":
                    self.visit_body(child)
        elif kind in CASTS:
            children = list(cursor.get_children())
            if children:
                self.visit(children[-1], always_returns)
        elif kind == "MEMBER_REF_EXPR":
            for child in cursor.get_children():
                if is_expression(child) and \
                        self.range_of(child)[1] <= cursor.location.offset:
                    self.visit(child, always_returns)
        elif kind == "DECL_STMT":
            self.visit_children(cursor, always_returns)
        elif kind == "DECL_REF_EXPR":
            self.change_named_constant(cursor)
        elif kind.endswith("_LITERAL") or kind == "CXX_BOOL_LITERAL_EXPR":
            self.change_literal(cursor, kind)
        elif is_expression(cursor) and kind not in UNEVALUATED:
            self.mutate(cursor, kind)
            self.visit_children(cursor, always_returns)

    def mutate(self, cursor, kind):
        if kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR"):
            self.mutate_binary(cursor, list(cursor.get_children()))
        elif kind == "UNARY_OPERATOR":
            self.mutate_unary(cursor, list(cursor.get_children()))
        elif kind == "CALL_EXPR":
            operands = [a for a in cursor.get_arguments() if self.range_of(a)[1] > 0]
            if re.fullmatch(r"operator[-+*/<>=!&|]+", cursor.spelling):
                if len(operands) == 2:
                    self.mutate_binary(cursor, operands)
                elif len(operands) == 1:
                    self.mutate_unary(cursor, operands)
            elif not cursor.spelling.startswith("operator"):
                self.mutate_call(cursor, operands)
        elif kind == "INIT_LIST_EXPR" and cursor.type.get_canonical().kind.name == "RECORD":
            values = []
            for child in cursor.get_children():
                is_named = self.text_of(child).startswith(".")
                values.append(list(child.get_children())[-1] if is_named else child)
            self.swap(cursor, values)
        elif kind == "CONDITIONAL_OPERATOR":
            self.negate(next(cursor.get_children()))

    def negate(self, condition):
        place = self.range_of(condition)
        text = self.text(*place)
        self.finder.negated.add((self.path, *place))
        bare = text[1:] if re.fullmatch(r"![\w.:\->()\[\]]+", text) else f"!({text})"
        self.add("condition negated", place, bare,
                 (*place, (f"(mutant_is({NUMBER}) ? !({text}) : !!(", "))")))

    def mutate_binary(self, cursor, operands):
        if len(operands) != 2:
            return
        (left_start, left_end), (right_start, right_end) = map(self.range_of, operands)
        if not 0 < left_start < left_end <= right_start < right_end:
            return
        sign = self.text(left_end, right_start)
        left, right = self.text(left_start, left_end), self.text(right_start, right_end)
        place = (left_start, right_end)
        if sign in BOUNDARIES:
            after = f"{left} {BOUNDARIES[sign]} {right}"
            self.add("comparison boundary", place, after, (*place, choose_either(after)))
        elif sign in EQUALITIES and (self.path, *place) not in self.finder.negated:
            after = f"{left} {EQUALITIES[sign]} {right}"
            self.add("condition negated", place, after, (*place, choose_either(after)))
        elif sign in CONNECTIVES:
            after = f"({left}) {CONNECTIVES[sign]} ({right})"
            self.add("and for or", place, after, (*place, choose_either(after)))
            for kept in (left, right):
                self.add("condition term dropped", place, kept,
                         (*place, choose_either(f"!!({kept})")))
        elif sign in SIGNS:
            self.change_sign(cursor, place, (right_start, right_end), sign,
                             f"{left} {SIGNS[sign]} {right}")

    def change_sign(self, cursor, place, term, sign, after):
        name = cursor.type.get_canonical().spelling
        if "basic_string" in name or "path" in name:
            return
        if "Eigen" in name and len(sign) == 1:
            texts = (f"mutant_sign({NUMBER}) * (", ")")
            self.add("sign changed", place, after, (*term, texts))
        else:
            self.add("sign changed", place, after, (*place, choose_either(after)))

    def mutate_unary(self, cursor, operands):
        if len(operands) != 1:
            return
        place, operand = self.range_of(cursor), self.range_of(operands[0])
        if self.source[place[0] : operand[0]].strip() == b"-":
            after = self.text(*operand)
            if "Eigen" in cursor.type.get_canonical().spelling:
                self.add("sign changed", place, after,
                         (*place, (f"(mutant_sign({NUMBER}) * (", "))")))
            else:
                self.add("sign changed", place, after, (*place, choose_either(after)))

    def mutate_call(self, cursor, operands):
        callee = next(cursor.get_children(), None)
        is_member = callee is not None and kind_of(callee) == "MEMBER_REF_EXPR"
        name = cursor.spelling
        if name in CLIPPING and not is_member and operands:
            if kind_of(operands[0]) == "INIT_LIST_EXPR" or self.text_of(operands[0])[:1] == "{":
                return
            for kept in operands[: 1 if name == "clamp" else 2]:
                self.replace("abs, min, max or clamp dropped", cursor, self.text_of(kept))
        if name not in SYMMETRIC:
            self.swap(cursor, operands)

    def swap(self, cursor, values):
        """Swaps each value with the next one of its type."""
        start, end = self.range_of(cursor)
        places = [self.range_of(value) for value in values]
        types = [re.sub(r"\bconst\b|&", "", value.type.get_canonical().spelling).strip()
                 for value in values]
        for first in range(len(values)):
            second = next((n for n in range(first + 1, len(values)) if types[n] == types[first]),
                          None)
            if second is None or "lambda" in types[first]:
                continue
            one, two = (self.text(*places[n]) for n in (first, second))
            between = self.source[places[first][1] : places[second][0]]
            if one == two or not one or not two or "{" in one[:1] + two[:1] or \
                    b"," not in between:
                continue
            after = flat((self.source[start : places[first][0]] + two.encode() +
                          self.source[places[first][1] : places[second][0]] + one.encode() +
                          self.source[places[second][1] : end]).decode())
            self.add("arguments swapped", (start, end), after,
                     (*places[first], choose_either(two)), (*places[second], choose_either(one)))

    def change_literal(self, cursor, kind):
        text = self.text_of(cursor)
        if kind == "CXX_BOOL_LITERAL_EXPR" and text in ("true", "false"):
            self.replace("constant changed", cursor, "false" if text == "true" else "true")
        elif kind in ("INTEGER_LITERAL", "FLOATING_LITERAL") and re.match(r"[\d.]", text):
            self.shift(cursor, text)

    def change_named_constant(self, cursor):
        target = cursor.referenced
        if target is None or kind_of(target) != "VAR_DECL" or \
                cursor.type.get_canonical().kind.name not in INTEGERS:
            return
        declaration = " ".join(token.spelling for token in target.get_tokens())
        if declaration.startswith(("constexpr", "inline constexpr", "static constexpr")):
            self.shift(cursor, self.text_of(cursor))

    def shift(self, cursor, text):
        for step in ("+ 1", "- 1"):
            self.replace("constant changed", cursor, f"{text} {step}")


def find_mutants(path, arguments, sources, name_of):
    """Returns the mutants of the sources that the translation unit `path` includes.

    arguments: of the compiler; sources: text [bytes] by path, which replaces the files' content.
    """
    unit = parse(path, arguments, sources, detailed=True)
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{path} does not compile: {errors[0]}")
    return Finder(unit, sources, name_of).run()


def parse(path, arguments, sources, detailed=False):
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD if detailed else 0
    unsaved = [(name, text.decode()) for name, text in sources.items()]
    return cindex.Index.create().parse(str(path), args=arguments, unsaved_files=unsaved,
                                       options=options)
