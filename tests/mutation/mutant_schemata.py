"""Writes sources that contain many mutants, each behind its switch, and removes those that do not
compile."""

import dataclasses
import os
import random

import mutant_operators
from mutant_operators import NUMBER, cindex

SWITCH = "tests/mutation/mutant_switch.h"
ROUNDS_MAX = 40


@dataclasses.dataclass
class MutatedSource:
    text: bytes
    places: list  # (first, last, number of the mutant) in `text`, including inserted text

    def mutants_at(self, offset):
        """The numbers of the innermost wraps around an offset."""
        around = [place for place in self.places if place[0] <= offset < place[1]]
        size = min((last - first for first, last, _ in around), default=0)
        return {number for first, last, number in around if last - first == size}

    def mutants_on_line(self, offset):
        """The numbers of the mutants on the line of an offset."""
        first = self.text.rfind(b"\n", 0, offset) + 1
        last = (self.text.find(b"\n", offset) + 1 or len(self.text) + 1) - 1
        return {number for start, end, number in self.places if start <= last and end >= first}

    def mutants_before(self, offset):
        """The number of the last mutant before an offset, which may change a type used there."""
        before = [place for place in self.places if place[1] <= offset]
        return {max(before, key=lambda place: place[1])[2]} if before else set()


def choose(mutants, count, seed):
    """Returns `count` random mutants, with each operator as often as the others if it can be."""
    by_operator = {}
    for mutant in sorted(mutants):
        by_operator.setdefault(mutant.operator, []).append(mutant)
    source = random.Random(seed)
    lists = [by_operator[operator] for operator in sorted(by_operator)]
    for list_ in lists:
        source.shuffle(list_)
    chosen = []
    while lists and len(chosen) < count:
        source.shuffle(lists)
        for list_ in lists:
            chosen.append(list_.pop())
        lists = [list_ for list_ in lists if list_]
    return chosen[:count]


def compose(text, name, mutants):
    """Returns the source `text` [bytes] of file `name` with the switches of `mutants`.

    mutants: by number. Line numbers stay as they are.
    """
    wraps = sorted(((wrap.start, -wrap.end, number, wrap) for number, mutant in mutants.items()
                    for wrap in mutant.wraps), key=lambda entry: entry[:3])
    folder = os.path.dirname(name)
    head = (f'#include "{os.path.relpath(SWITCH, folder or ".")}"\n'
            '#pragma clang diagnostic ignored "-Weverything"\n'
            '#pragma clang diagnostic ignored "-Wc++11-narrowing"\n'
            f'#line 1 "{os.path.basename(name)}"\n').encode()
    output, open_wraps, places, at = bytearray(head), [], [], 0

    def copy_until(offset):
        nonlocal at
        while open_wraps and open_wraps[-1][0].end <= offset:
            wrap, number, first = open_wraps.pop()
            output.extend(text[at : wrap.end])
            output.extend(wrap.suffix.replace(NUMBER, str(number)).encode())
            places.append((first, len(output), number))
            at = wrap.end
        output.extend(text[at:offset])
        at = offset

    for start, _, number, wrap in wraps:
        copy_until(start)
        if open_wraps and wrap.end > open_wraps[-1][0].end:
            raise ValueError(f"{name}: mutants {open_wraps[-1][1]} and {number} overlap")
        open_wraps.append((wrap, number, len(output)))
        output.extend(wrap.prefix.replace(NUMBER, str(number)).encode())
    copy_until(len(text))
    return MutatedSource(bytes(output), places)


def compose_all(tree, originals, mutants):
    """Mutated sources by absolute path, for the files that have mutants."""
    by_file = {}
    for number, mutant in mutants.items():
        by_file.setdefault(mutant.file, {})[number] = mutant
    return {str(tree / name): compose(originals[str(tree / name)], name, mine)
            for name, mine in by_file.items()}


def remove_uncompilable(tree, originals, mutants, units):
    """Returns the mutants (by number) that compile in all translation units (path, arguments)."""
    mutants = dict(mutants)
    for path, arguments in units:
        for _ in range(ROUNDS_MAX):
            sources = compose_all(tree, originals, mutants)
            texts = {**originals, **{name: source.text for name, source in sources.items()}}
            unit = mutant_operators.parse(path, arguments, texts)
            errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
            if not errors:
                break
            culprits = set().union(*(blamed(error, sources) for error in errors))
            if not culprits:
                raise ValueError(f"{path} does not compile with mutants: {errors[0]}")
            for number in culprits:
                mutants.pop(number, None)
        else:
            raise ValueError(f"{path} does not compile with mutants: {errors[0]}")
    return mutants


def blamed(error, sources):
    """The mutants that an error or its notes point at."""
    locations = [error.location] + [note.location for note in error.children]
    points = []
    for place in locations:
        path = place.file.name if place.file else None
        path = next((name for name in sources if path and os.path.samefile(name, path)), None)
        if path:
            points.append((sources[path], place.offset))
    for find in (MutatedSource.mutants_at, MutatedSource.mutants_on_line,
                 MutatedSource.mutants_before):
        for source, offset in points:
            found = find(source, offset)
            if found:
                return found
    return set()
