#!/usr/bin/env python3
"""Checks a firmware image by its machine code.

  check_image.py size IMAGE            flash and RAM against their limits
  check_image.py stack IMAGE BUILD     worst stack against what the linker script reserves
  check_image.py symbols IMAGE         no heap, no printing, no floating point
  check_image.py handlers IMAGE        every fault and unused interrupt begins with the output off
  check_image.py stops IMAGE QEMU      what the board's image writes when it stops itself"""
import pathlib
import re
import subprocess
import sys

FLASH_BYTES_MAX = 16 * 1024
RAM_BYTES_MAX = 8 * 1024

PAGE = pathlib.Path(__file__).parents[2] / "firmware_iface" / "firmware" / "README.md"

# One handler of each priority can be active. reset_handler ends in the sleeping main program.
TICK_HANDLERS = ("tim7_interrupt", "usart2_interrupt")
LEVELS = (("reset_handler",), TICK_HANDLERS, ("serial_interrupt",), ("dead_man_interrupt",))
EXCEPTION_FRAME_BYTES = 36  # eight words, and one for alignment

FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|^_?free|sbrk|printf|puts|__aeabi_[df]|__aeabi_u?[il]2[df]|"
    r"^(sin|cos|tan|exp|log|pow|sqrt|round|floor|ceil)[fl]?$|abort|exit|atexit")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Function:
    def __init__(self):
        self.frame_bytes = 0  # all bytes pushed, in any place
        self.calls = []  # in the order of the code, including tail calls
        self.is_indirect = False


def read_functions(image):
    functions, own = {}, None
    for line in run("arm-none-eabi-objdump", "-d", "--no-show-raw-insn", image).splitlines():
        head = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if head:
            name = head.group(1)
            own = functions.setdefault(name, Function())
            continue
        code = re.match(r"\s*[0-9a-f]+:\s+(\S+)\s*(.*)", line)
        if not code or own is None:
            continue
        operation, operands = code.groups()
        registers = re.search(r"\{(.*?)\}", operands)
        if operation in ("push", "stmdb") and registers and ("sp!" in operands or operation == "push"):
            for part in registers.group(1).split(", "):
                ends = re.match(r"r(\d+)-r(\d+)", part)
                own.frame_bytes += 4 * (int(ends.group(2)) - int(ends.group(1)) + 1 if ends else 1)
        pushed = re.search(r"\[sp, #-(\d+)\]!", operands)
        if pushed:
            own.frame_bytes += int(pushed.group(1))
        lowered = re.match(r"(?:sp, )?sp, #(\d+)|sp, #(\d+)", operands)
        if operation.startswith("sub") and lowered:
            own.frame_bytes += int(lowered.group(1) or lowered.group(2))
        if operation.startswith("blx") or (operation == "bx" and not operands.startswith("lr")):
            own.is_indirect = True
        target = re.search(r"<([^+>]+)>", operands)
        if operation.startswith("b") and not operation.startswith(("bic", "bfi", "bfc", "bkpt")) and \
                target and target.group(1) != name:
            own.calls.append(target.group(1))
    return functions


def deepest(functions, name, path=()):
    if name in path:
        sys.exit(f"recursion: {' > '.join(path + (name,))}")
    function = functions[name]
    if function.is_indirect:
        sys.exit(f"{name} calls through a pointer: its stack has no bound")
    return function.frame_bytes + max(
        (deepest(functions, callee, path + (name,)) for callee in function.calls), default=0)


def symbol_values(image):
    return {words[-1]: int(words[0], 16)
            for words in (line.split() for line in run("arm-none-eabi-nm", image).splitlines())
            if len(words) == 3}


def check_page(image, quantity, measured):
    """The page states the figures of the board's image. Compilers may differ by a tenth."""
    if "stm32f405" not in pathlib.Path(image).name:
        return
    row = re.search(rf"^\| {quantity}[^|]*\| ([\d ]+) bytes", PAGE.read_text(encoding="utf-8"), re.M)
    stated = int(row.group(1).replace(" ", "")) if row else 0
    if abs(stated - measured) > 0.1 * measured:
        sys.exit(f"{PAGE} states {stated} bytes as {quantity}; the image has {measured}")


def check_size(image):
    text, data, bss = map(int, run("arm-none-eabi-size", image).splitlines()[1].split()[:3])
    check_page(image, "flash", text + data)
    check_page(image, "RAM", data + bss)
    print(f"flash {text + data} bytes of {FLASH_BYTES_MAX}, RAM {data + bss} of {RAM_BYTES_MAX}")
    if text + data > FLASH_BYTES_MAX or data + bss > RAM_BYTES_MAX:
        sys.exit("the image is larger than its limit")


def check_stack(image, build):
    functions = read_functions(image)
    # The compiler's own figures must not exceed those read from the code.
    reported = 0
    own = f"{pathlib.Path(image).stem}.dir"
    for path in pathlib.Path(build).rglob("*.su"):
        if own not in path.parts and not any(part.startswith("firmware_") for part in path.parts):
            continue  # of another image
        for line in path.read_text(encoding="utf-8").splitlines():
            place, size, kind = line.split("\t")
            name = place.rsplit(":", 1)[1]
            if kind not in ("static", "dynamic,bounded"):
                sys.exit(f"{name}: {kind} stack")
            if name in functions:
                reported += 1
                if functions[name].frame_bytes < int(size):
                    sys.exit(f"{name}: read {functions[name].frame_bytes} bytes, not {size}")
    if reported < 20:
        sys.exit("the compiler's reports on the stack are missing")
    total = 0
    for index, names in enumerate(LEVELS):
        depth = max(deepest(functions, name) for name in names if name in functions)
        total += depth + (EXCEPTION_FRAME_BYTES if index > 0 else 0)
        print(f"{' or '.join(name for name in names if name in functions)}: {depth} bytes")
    total += EXCEPTION_FRAME_BYTES  # for a fault, whose handler starts a new stack
    reserved = symbol_values(image)["stack_top"] - 0x20000000
    print(f"stack {total} bytes of {reserved}")
    check_page(image, "largest stack", total)
    if total > reserved:
        sys.exit("the stack can overflow")


def check_symbols(image):
    found = sorted(name for name in symbol_values(image) if FORBIDDEN.search(name))
    if found:
        sys.exit(f"the image contains {', '.join(found)}")
    print("no heap, no printing, no floating point")


def check_handlers(image):
    functions, values = read_functions(image), symbol_values(image)
    names = {value: name for name, value in values.items() if name in functions}
    dump = run("arm-none-eabi-objdump", "-s", "-j", ".text", "--start-address=0x08000000",
               "--stop-address=0x08000188", image)
    rows = re.findall(r"^ 80[0-9a-f]+ ((?:[0-9a-f]+ )+) ", dump, re.M)
    data = bytes.fromhex("".join(rows))
    vectors = [int.from_bytes(data[k:k + 4], "little") for k in range(0, len(data), 4)]
    if len(vectors) != 98 or vectors[0] != values["stack_top"]:
        sys.exit("the vector table is not where it should be")
    handlers = {index: names.get(vector & ~1) for index, vector in enumerate(vectors) if index > 0}
    own = {1: "reset_handler", 15: "dead_man_interrupt", 16 + 37: "serial_interrupt"}
    for index, handler in handlers.items():
        ticks = handler in TICK_HANDLERS and index in (16 + 38, 16 + 55)
        if handler != own.get(index, "fault_handler") and not ticks:
            sys.exit(f"vector {index} is {handler}")
    chain = ("fault_handler", "stop_by_exception", "firmware_stop", "board_output_off")
    for caller, callee in zip(chain, chain[1:]):
        if functions[caller].calls[:1] != [callee]:
            sys.exit(f"{caller} does not begin with {callee}")
    if functions["dead_man_interrupt"].calls != ["firmware_stop"]:
        sys.exit("the dead man does not end in firmware_stop")
    print(f"{list(handlers.values()).count('fault_handler')} vectors switch the output off first")


def check_stops(image, qemu):
    """QEMU has no clock control: the board's image finds no clock, stops and starts again."""
    enable = 1 << 13  # PB13
    log = subprocess.Popen([qemu, "-M", "netduinoplus2", "-display", "none", "-monitor", "none",
                            "-serial", "null", "-d", "unimp", "-kernel", image],
                           stderr=subprocess.PIPE, text=True)
    try:
        writes = 0
        for line in log.stderr:
            write = re.search(r"GPIOB: unimplemented device write \(size 4, offset 0x0*18, value (\S+)\)",
                              line)
            if not write:
                continue
            value = int(write.group(1), 16)
            if value & enable:
                sys.exit("the output was enabled")
            writes += value == enable << 16
            if writes == 4:  # at the start and at the stop, twice
                print("the enable pin is low when the image starts and when it stops")
                return
    finally:
        log.kill()
        log.wait()
    sys.exit("QEMU ended")


{"size": check_size, "stack": check_stack, "symbols": check_symbols, "handlers": check_handlers,
 "stops": check_stops}[sys.argv[1]](*sys.argv[2:])
