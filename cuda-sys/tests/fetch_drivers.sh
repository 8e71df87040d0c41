#!/bin/sh
# Fetches the user-mode CUDA drivers of several generations that Debian packages, for the tests in `old_drivers.rs`.
#
# usage: cuda-sys/tests/fetch_drivers.sh DIRECTORY
#
# They load without a GPU. The mirror is the one that this machine's own apt sources name; apt's state is kept in DIRECTORY,
# nothing of the machine's is changed. Each driver ends up in DIRECTORY/NNN/libcuda.so.1, where NNN is its major version.
# Drivers that cannot be had are named on standard error; the script fails only if none can.
set -eu

directory=${1:?usage: fetch_drivers.sh DIRECTORY}
# Package and major version: CUDA 10.1, 11.0, 11.2, 11.4, 12.0, 12.2, 12.4 and 12.5.
drivers='libnvidia-tesla-418-cuda1:418
libnvidia-tesla-450-cuda1:450
libnvidia-tesla-460-cuda1:460
libnvidia-tesla-470-cuda1:470
libnvidia-tesla-cuda1:525
libcuda1:535
libcuda1:550
libcuda1:555'

for program in apt-get apt-cache dpkg dpkg-deb; do
    if ! command -v "$program" >/dev/null; then
        echo "fetch_drivers.sh: this machine has no $program: no driver is fetched" >&2
        exit 1
    fi
done
mkdir -p "$directory/apt/lists/partial" "$directory/apt/archives/partial"
directory=$(cd "$directory" && pwd)

# The addresses of Debian archives in both formats of apt's source lists; comments are dropped.
mirrors=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | sed 's/#.*//' |
    grep -oE '(https?|file|copy)://[^] ]*/debian/?( |$)' | sed 's/[ /]*$//' | sort -u)
if [ -z "$mirrors" ]; then
    echo 'fetch_drivers.sh: the apt sources of this machine name no Debian archive: no driver is fetched' >&2
    exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
signed=
if [ -e "$keyring" ]; then signed="signed-by=$keyring"; fi
for mirror in $mirrors; do
    for suite in bullseye bookworm trixie sid experimental; do
        echo "deb [arch=amd64 $signed] $mirror $suite non-free"
    done
done >"$directory/apt/sources.list"

cat >"$directory/apt/configuration" <<END
Dir::State "$directory/apt";
Dir::State::Lists "$directory/apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$directory/apt";
Dir::Etc::sourcelist "$directory/apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
APT::Architecture "amd64";
END
export APT_CONFIG="$directory/apt/configuration"
# A suite that the mirror lacks fails alone.
apt-get -qq update >&2 || true

fetched=0
for driver in $drivers; do
    package=${driver%:*}
    major=${driver#*:}
    if [ -e "$directory/$major/libcuda.so.1" ]; then
        fetched=$((fetched + 1))
        continue
    fi
    version=$(apt-cache madison "$package" | tr -d ' ' |
        awk -F'|' -v major="$major." 'index($2, major) == 1 { print $2; exit }')
    if [ -z "$version" ]; then
        echo "fetch_drivers.sh: no $package of version $major is to be had" >&2
        continue
    fi
    rm -rf "$directory/unpacked"
    mkdir -p "$directory/unpacked"
    if ! (cd "$directory/unpacked" && apt-get -qq -o APT::Sandbox::User=root download "$package=$version" >&2); then
        echo "fetch_drivers.sh: cannot download $package $version" >&2
        continue
    fi
    dpkg-deb -x "$directory"/unpacked/*.deb "$directory/unpacked"
    if [ "$major" = 418 ]; then
        # The one generation that keeps a part of itself in a library of its own.
        loader=libnvidia-tesla-418-fatbinaryloader
        (cd "$directory/unpacked" && rm ./*.deb && apt-get -qq -o APT::Sandbox::User=root download "$loader=$version" >&2) &&
            dpkg-deb -x "$directory"/unpacked/*.deb "$directory/unpacked" || continue
    fi
    library=$(find "$directory/unpacked" -type f -name 'libcuda.so.*' | head -n 1)
    if [ -z "$library" ]; then
        echo "fetch_drivers.sh: $package $version holds no libcuda.so" >&2
        continue
    fi
    mkdir -p "$directory/$major"
    mv "$library" "$directory/$major/libcuda.so.1"
    find "$directory/unpacked" -type f -name 'libnvidia-fatbinaryloader.so.*' -exec mv {} "$directory/$major/" \;
    fetched=$((fetched + 1))
    echo "$major: $package $version"
done
rm -rf "$directory/unpacked"
echo "$fetched drivers in $directory"
[ "$fetched" -gt 0 ]
