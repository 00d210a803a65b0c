#!/usr/bin/env bash
# Installs the build into its own folder and checks the installation as a user would see it.
# check_install.sh BUILD_FOLDER
set -euo pipefail

build=$1
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null

fail() { echo "check_install.sh: $1" >&2; exit 1; }

for program in rigcal rigcal-daq rigcal-sim rigcald; do
  "$prefix/bin/$program" --version | grep -q "^$program [0-9]" || fail "$program does not run"
  [[ -s $prefix/share/man/man1/$program.1 ]] || fail "$program has no manual page"
  bash -n "$prefix/share/bash-completion/completions/$program" || fail "completion of $program"
  [[ -s $prefix/share/zsh/vendor-completions/_$program ]] || fail "$program: nothing for zsh"
  [[ -s $prefix/share/fish/vendor_completions.d/$program.fish ]] || fail "$program: nothing for fish"
done

# Every command listed by --help must have its page.
for program in rigcal rigcal-daq; do
  commands=$("$prefix/bin/$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\).*/\1/p')
  [[ -n $commands ]] || fail "$program lists no commands"
  for command in $commands; do
    page=$prefix/share/man/man1/$program-$command.1
    grep -q '^\.SH SYNOPSIS' "$page" || fail "$program $command has no manual page"
  done
done

unit=$prefix/lib/systemd/system/rigcald.service
grep -q "^ExecStart=$prefix/bin/rigcald " "$unit" || fail "the unit starts another rigcald"
[[ $(head -n 1 "$unit") == "[Unit]" ]] || fail "the unit contains installation comments"
grep -q latency_timer "$prefix/lib/udev/rules.d/80-rigcal.rules" || fail "no udev rule"
[[ -s $prefix/share/rigcal/proto/rig.proto ]] || fail "no schemas"
"$prefix/bin/rigcal" info "$prefix/share/rigcal/configs/rig-furuta.textproto" >/dev/null ||
  fail "an installed config does not load"
