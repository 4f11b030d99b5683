#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Sets up the machine: `scripts/setup.sh [--strict] PART ...`, with the parts in the list at the end of this file. It is quick if nothing is
# missing. It stops if nothing could run without the missing part (no Node, no npm packages). For another missing tool, it prints the command
# that installs it and continues. With --strict, it then exits with status 1 and names every tool that could not be installed, so that
# `make test` does not find out half an hour later. Optional tools, whose tests are left out without them, count only if installing them failed.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'set-up: %s\n' "$*" >&2; }

strict=no
lacks=
lacking() { lacks="$lacks${lacks:+, }$1"; }

need_node() {
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    say "Node and npm are missing. Clearway needs Node 20.19 or newer: https://nodejs.org/en/download"
    exit 1
  fi
  if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'; then
    say "Node $(node -p process.versions.node) is too old. Clearway needs Node 20.19 or newer: https://nodejs.org/en/download"
    exit 1
  fi
  node scripts/installed.mjs && return
  # `npm ci` is not used, because it refuses a lock file without the optional packages of other platforms. npm writes such a lock file if a
  # registry does not have all of them. This command also installs the versions of the lock file, and writes no lock file.
  say "installing the npm packages that package-lock.json names"
  npm install --no-save --no-audit --no-fund || {
    say "npm install failed; nothing can run without the packages. See its message above."
    exit 1
  }
}

# Maximum wait for a lock of apt or dpkg, in seconds, and the time between two tries.
lock_wait=300
lock_pause=5

# Runs apt-get. While another program holds a lock of apt or dpkg, says which one, waits and tries again. apt's own option
# DPkg::Lock::Timeout waits for dpkg's lock only, not for the locks of the package lists and of the downloads, and it waits silently.
apt_get() {
  waited=0
  while :; do
    if said=$(LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get "$@" 2>&1); then
      return 0
    fi
    holder=$(printf '%s\n' "$said" | sed -n 's/^E: Could not get lock \([^ ]*\)\. It is held by \(process .*\)$/\2, which holds \1/p' | head -n 1)
    case $said in
      *"Could not get lock"* | *"Unable to acquire the dpkg frontend lock"*) ;;
      *) waited=$lock_wait ;;
    esac
    if [ "$waited" -ge "$lock_wait" ]; then
      printf '%s\n' "$said" >&2
      return 1
    fi
    say "waiting for ${holder:-another program, which holds a lock of apt or dpkg}"
    sleep "$lock_pause"
    waited=$((waited + lock_pause))
  done
}

updated=no
add_package() { # add_package WHAT PACKAGE [optional]
  if ! command -v apt-get >/dev/null 2>&1; then
    say "$1 is missing, and this system has no apt-get: install $1 with its own package manager. What needs it will say so."
    [ "${3:-}" = optional ] || lacking "$1"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    say "$1 is missing. Add it with: sudo apt-get update && sudo apt-get install -y --no-install-recommends $2"
    [ "${3:-}" = optional ] || lacking "$1"
    return
  fi
  say "installing $1 from the system's packages"
  if [ $updated = no ]; then
    updated=yes
    apt_get update -qq || say "apt-get update failed; trying with the lists that are there"
  fi
  apt_get install -y -qq --no-install-recommends "$2" || {
    say "$1 could not be installed. Add it with: apt-get install -y --no-install-recommends $2"
    lacking "$1"
  }
}

need_chromium() {
  for browser in "${CLEARWAY_CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    if [ -n "$browser" ] && [ -x "$browser" ]; then return; fi
  done
  add_package Chromium chromium
}

# Firefox, and WebKitGTK, which has Safari's engine. WebKitGTK shows its window on a virtual display. Without one of them, its stages are left
# out, so that a system whose packages have other names can run the rest.
need_engines() {
  [ "$(uname)" = Linux ] || return 0
  before=$lacks
  [ -x "${CLEARWAY_FIREFOX:-}" ] || [ -x /usr/bin/firefox-esr ] || [ -x /usr/bin/firefox ] || add_package Firefox firefox-esr optional
  [ -x /usr/bin/WebKitWebDriver ] || add_package WebKitGTK webkit2gtk-driver optional
  [ -x /usr/bin/Xvfb ] || add_package Xvfb xvfb optional
  [ -x /usr/bin/dbus-daemon ] || add_package D-Bus dbus optional
  lacks=$before
}

# The tests start their own server from these programs, in a temporary folder. Debian's package may start a cluster on the usual port; the
# tests do not use it.
need_postgresql() {
  for program in /usr/lib/postgresql/*/bin/initdb; do
    if [ -x "$program" ]; then return; fi
  done
  add_package PostgreSQL postgresql
}

# The tests start their own server from this program, on 127.0.0.1 and any free port, in a temporary folder. Debian's package may start a
# server on the usual port; the tests do not use it.
need_prometheus() {
  command -v prometheus >/dev/null 2>&1 || add_package Prometheus prometheus optional
}

# The tests of remote pools, the lab and the soak start their own servers from these programs, on 127.0.0.1 and any free port, in a temporary
# folder. Debian's packages may start a server on the usual port; nothing here uses it. Debian installs nats-server in /usr/sbin, which is
# not on every user's path.
need_nats() {
  command -v nats-server >/dev/null 2>&1 || [ -x /usr/sbin/nats-server ] || add_package "the NATS server" nats-server
}

# Makes a separate Python with the packages that the tests read Clearway's output with. Does not change the system's Python.
need_python() {
  venv=.cache/python
  pinned=scripts/python-requirements.txt
  if cmp -s $pinned $venv/installed.txt && $venv/bin/python3 -c 'import prometheus_client, pyarrow' 2>/dev/null; then return; fi
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    add_package Python python3-venv
    python3 -c 'import ensurepip, venv' 2>/dev/null || return
  fi
  say "installing the packages of $pinned into $venv"
  rm -rf $venv
  if python3 -m venv $venv >&2 && $venv/bin/python3 -m pip install --quiet --disable-pip-version-check -r $pinned >&2; then
    cp $pinned $venv/installed.txt
  else
    say "$pinned could not be installed. See the message above. The tests of Arrow streams and OpenMetrics will say that it is missing."
    lacking "the packages of $pinned"
  fi
}

# A JDK 17 or newer, and Maven. Maven downloads its packages in the first build. If there is also a JDK 24 or newer, the tests also run
# there. Otherwise they report that they leave it out.
need_jvm() {
  command -v javac >/dev/null 2>&1 || add_package "a JDK" openjdk-17-jdk-headless
  command -v mvn >/dev/null 2>&1 || add_package Maven maven
}

# A virtual display, for the tests that watch a real Swing window on systems with X11. Also the part of the JDK that shows windows, which
# the JDK's headless package does not have.
need_xvfb() {
  [ "$(uname)" = Linux ] || return 0
  command -v Xvfb >/dev/null 2>&1 || add_package Xvfb xvfb optional
  command -v javac >/dev/null 2>&1 || return 0
  home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
  case $home in
    */java-17-openjdk-*) [ -e "$home/lib/libawt_xawt.so" ] || add_package "the JDK's part that shows windows" openjdk-17-jre optional ;;
  esac
}

# Flutter's own engine, as a peer of the codecs and channels, with the system's libraries that it loads. Only for Linux on x86_64. Nothing
# else needs it: what uses it says that it is missing.
need_flutter() {
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    say "Flutter's engine is a program for Linux on x86_64; it is left out"
    return
  fi
  libraries=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null || true)
  for pair in libgtk-3.so.0:libgtk-3-0 libepoxy.so.0:libepoxy0 libEGL.so.1:libegl1 libGL.so.1:libgl1; do
    case $libraries in *"${pair%%:*} "*) ;; *) add_package "${pair%%:*}" "${pair#*:}" ;; esac
  done
  [ -e /usr/lib/x86_64-linux-gnu/dri/swrast_dri.so ] || add_package "the software renderer of OpenGL" libgl1-mesa-dri
  command -v Xvfb >/dev/null 2>&1 || add_package Xvfb xvfb
  node scripts/flutter-engine.mjs || say "Flutter's engine is not installed. See the message above. What needs it will say so."
}

# The header of SQLite, for the example plugin that reads databases. Without a C compiler, nothing uses it.
need_sqlite() {
  command -v cc >/dev/null 2>&1 || return 0
  cc -fsyntax-only -include sqlite3.h -xc /dev/null >/dev/null 2>&1 || add_package "SQLite's header" libsqlite3-dev optional
}

# Rust from the system or from rustup, and the packages in Cargo.lock. Cargo.toml names the oldest supported version of Rust.
need_rust() {
  if ! command -v cargo >/dev/null 2>&1; then
    say "Rust is missing; the rest goes on. Add it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy,rustfmt"
    return
  fi
  for part in clippy fmt; do
    cargo $part --version >/dev/null 2>&1 || say "cargo $part is missing. Add it with: rustup component add clippy rustfmt"
  done
  fetched=native/target/fetched.lock
  if cmp -s native/Cargo.lock $fetched; then return; fi
  say "fetching the Rust packages that native/Cargo.lock names"
  mkdir -p native/target
  if (cd native && cargo fetch --locked --quiet); then
    cp native/Cargo.lock $fetched
  else
    say "cargo fetch failed. See its message above. The stages that need Rust will say so, too."
    lacking "the packages of native/Cargo.lock"
  fi
}

# Compilers of the prebuilt addons for other platforms. A release leaves out the platforms whose compiler is missing.
need_cross() {
  if [ "$(uname -sm)" != "Linux x86_64" ]; then return 0; fi
  command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 || add_package "a C++ compiler for arm64" g++-aarch64-linux-gnu
  command -v x86_64-linux-musl-gcc >/dev/null 2>&1 || add_package "a C compiler for musl" musl-tools
  command -v rustup >/dev/null 2>&1 || return 0
  for target in aarch64-unknown-linux-gnu x86_64-unknown-linux-musl; do
    if rustup target list --installed | grep -qx $target; then continue; fi
    say "adding Rust's library for $target"
    (cd native && rustup target add $target >&2) || say "Rust's library for $target could not be added. A release says what it leaves out."
  done
}

# Swift of the system, or Swift from Debian 13 in a folder outside of this one. The system's packages stay as they are.
need_swift() {
  node scripts/swift.mjs version >/dev/null 2>&1 && return
  if [ "$(uname -sm)" != "Linux x86_64" ] || ! command -v apt-get >/dev/null 2>&1 || ! command -v bash >/dev/null 2>&1; then
    say "Swift is missing, and set-up installs it only on Debian and derivatives on x86_64; the rest goes on. Add it from https://swift.org/install"
    return
  fi
  home=${CLEARWAY_SWIFT_HOME:-/opt/clearway-swift}
  if [ -z "${CLEARWAY_SWIFT_HOME:-}" ] && [ "$(id -u)" != 0 ]; then home=${XDG_CACHE_HOME:-${HOME:-/}/.cache}/clearway-swift; fi
  say "installing Swift 6.0 from Debian's packages into $home: 0.6 GB to fetch, 1.7 GB on disk"
  scripts/swift-toolchain.sh "$home" || {
    say "Swift 6.0 is missing; the rest goes on. Add it from https://swift.org/install, and set SWIFT to its program swift"
    lacking "Swift"
  }
}

# The tools that the rows of docs/runs-with.md are tested with.
need_tools() {
  node scripts/runs-with.mjs || lacking "the tools of test/runs-with/package-lock.json"
}

for what in "$@"; do
  case $what in
    --strict) strict=yes ;;
    node) need_node ;;
    chromium) need_chromium ;;
    engines) need_engines ;;
    postgresql) need_postgresql ;;
    prometheus) need_prometheus ;;
    python) need_python ;;
    nats) need_nats ;;
    jvm) need_jvm ;;
    xvfb) need_xvfb ;;
    flutter) need_flutter ;;
    sqlite) need_sqlite ;;
    rust) need_rust ;;
    cross) need_cross ;;
    swift) need_swift ;;
    tools) need_tools ;;
    *) say "unknown part: $what (node, chromium, engines, postgresql, prometheus, nats, python, jvm, xvfb, flutter, sqlite, rust, cross, swift, tools)"; exit 2 ;;
  esac
done

if [ $strict = yes ] && [ -n "$lacks" ]; then
  say "stopped, because these could not be installed: $lacks. The messages above say how to add them."
  exit 1
fi
