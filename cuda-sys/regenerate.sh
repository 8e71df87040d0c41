#!/bin/sh
# Writes the generated files of cuda-sys anew from the pinned headers, with the pinned libclang.
#
#   cuda-sys/regenerate.sh             writes them
#   cuda-sys/regenerate.sh --check     writes them elsewhere and fails if they differ from those here
#   cuda-sys/regenerate.sh --headers   only fetches the headers and prints their directories, separated by `:`
#
# Needs cargo and Python with pip. Headers and libclang are fetched once, into the target directory; none of them is kept
# in the repository. Whoever has the headers already can run `cargo run -p cuda-sys-generator -- DIRECTORY…` instead.
set -eu

# "Move to a new CUDA release" in UPDATING.md begins here.
runtime=nvidia-cuda-runtime==13.5.37
profiler=nvidia-cuda-profiler-api==13.4.92
libclang=libclang==18.1.1

here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$target/cuda-sys"
store=$(cd "$target/cuda-sys" && pwd)

# Unpacks one package below the store, unless it is there; prints where. Headers are the same for every platform.
fetch() {
    package=$1
    shift
    place=$store/$package
    if [ ! -e "$place/complete" ]; then
        rm -rf "$place"
        mkdir -p "$place"
        python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$place" "$@" "$package" >&2
        for wheel in "$place"/*.whl; do
            python3 -m zipfile -e "$wheel" "$place"
            rm "$wheel"
        done
        touch "$place/complete"
    fi
    echo "$place"
}

# The directory that holds the file of this name.
holding() {
    file=$(find "$1" -name "$2" | head -n 1)
    if [ -z "$file" ]; then
        echo "regenerate.sh: $1 holds no $2" >&2
        exit 1
    fi
    dirname "$file"
}

linux=manylinux_2_17_x86_64
runtime=$(fetch "$runtime" --platform "$linux" --platform manylinux2014_x86_64)
profiler=$(fetch "$profiler" --platform "$linux" --platform manylinux2014_x86_64)
runtime=$(holding "$runtime" cuda.h)
profiler=$(holding "$profiler" cudaProfiler.h)

case ${1-} in
--headers)
    echo "$runtime:$profiler"
    exit
    ;;
--check) output=$store/check ;;
'') output=$here ;;
*)
    echo 'usage: cuda-sys/regenerate.sh [--check | --headers]' >&2
    exit 2
    ;;
esac

libclang=$(fetch "$libclang")
LIBCLANG_PATH=$(holding "$libclang" 'libclang.*')
export LIBCLANG_PATH
cd "$here"
cargo run --quiet --locked --package cuda-sys-generator -- --output "$output" "$runtime" "$profiler"

if [ "$output" != "$here" ]; then
    for file in src/types.rs src/functions.rs tests/layout/layout.tsv tests/layout/facts.rs; do
        if ! diff -u "$here/$file" "$output/$file" >&2; then
            echo "regenerate.sh: cuda-sys/$file is not what the generator writes; run cuda-sys/regenerate.sh" >&2
            exit 1
        fi
    done
    echo 'the generated files of cuda-sys are current'
fi
