#!/usr/bin/env bash
# Compiles every file of a wire folder as freestanding C11 and as C++20, each header also on its own.
#   check_wire.sh <root> <wire folder below root> <C compiler> <C++ compiler>
set -euo pipefail

root=$1 folder=$2 cc=$3 cxx=$4
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only "-I$root")
shopt -s nullglob
files=("$root/$folder"/*.c "$root/$folder"/*.h)
if ((${#files[@]} == 0)); then
  echo "no C files in $root/$folder" >&2
  exit 1
fi
for file in "${files[@]}"; do
  # A header named on the command line is compiled through a source that includes nothing else.
  include="#include \"${file#"$root"/}\""
  "$cc" -x c -std=c11 -ffreestanding "${warnings[@]}" - <<<"$include"
  "$cxx" -x c++ -std=c++20 "${warnings[@]}" - <<<"$include"
done
echo "${#files[@]} files are freestanding C11 and C++20"
