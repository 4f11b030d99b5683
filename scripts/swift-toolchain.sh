#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# `scripts/swift-toolchain.sh FOLDER`: installs Swift 6.0 into FOLDER, from the packages of Debian 13, on a Debian or derivative on x86_64.
# Does nothing if it is there. The system's own packages stay as they are: apt works on its own state, and only resolves, downloads and
# verifies; dpkg-deb only unpacks; no maintainer script runs. The mirror is the one that the system's own sources name. Needs 0.6 GB of
# downloads and 1.7 GB of disk. Exits with status 1 and a message if it cannot be installed.
set -euo pipefail
dir=$(realpath -m "${1:?FOLDER is missing}")
tree=$dir/tree
apt=$dir/apt
packages="swiftlang libc6-dev libstdc++-14-dev gcc binutils binutils-gold dash coreutils base-files tzdata"
keyring=/usr/share/keyrings/debian-archive-trixie-automatic.gpg
# The debugger, the REPL, the language servers and LLVM's linker are not unpacked: 0.9 of 2.5 GB.
without=(--exclude '*/bin/lldb*' --exclude '*/bin/repl_swift' --exclude '*/liblldb.so*' --exclude '*/bin/clangd'
  --exclude '*/bin/sourcekit-lsp' --exclude '*/libsourcekitdInProc.so' --exclude '*/libLTO.so*' --exclude '*/libexec/swift/bin/*lld*'
  --exclude './usr/share/doc/*' --exclude './usr/share/man/*' --exclude './usr/share/locale/*')
stamp="1 $packages"

fail() {
  echo "swift: $*" >&2
  exit 1
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "the packages are for Linux on x86_64"
for program in apt-get dpkg-deb unshare chroot flock; do
  PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || fail "$program is missing; this needs Debian or a derivative"
done
# The tools run in a mount namespace of their own.
as_root=(); [ "$(id -u)" = 0 ] || as_root=(-r)
unshare "${as_root[@]}" -m true 2>/dev/null || fail "this user may not make mount namespaces; they need root or user namespaces"
mkdir -p "$dir" 2>/dev/null && [ -w "$dir" ] || fail "cannot write to $dir"

exec 9>"$dir/lock"
flock 9
if [ "$(cat "$dir/done" 2>/dev/null)" != "$stamp" ]; then
  [ -r "$keyring" ] || fail "$keyring is missing (package debian-archive-keyring)"
  mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: *\([^ ]*\/debian\/*\)\( .*\)*$/\1/p' | head -1)
  [ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n 's/^deb \(\[[^]]*\] \)*\([^ ]*\/debian\/*\) .*/\2/p' | head -1)
  [ -n "$mirror" ] || fail "the system's apt sources name no mirror of Debian"
  ! grep -q " $tree/" /proc/self/mountinfo || fail "something is mounted in $tree"
  rm -rf "$tree" "$dir/done"
  mkdir -p "$tree" "$apt"/{etc/preferences.d,state/lists/partial,cache/archives/partial,none/partial}
  : >"$apt/state/status"
  echo "deb [arch=amd64 signed-by=$keyring] $mirror trixie main" >"$apt/etc/sources.list"
  get=(apt-get -qq -o Dir::Etc="$apt/etc" -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status"
    -o Dir::Cache="$apt/cache" -o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Get::AllowUnauthenticated=false -o Acquire::AllowInsecureRepositories=false
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
  [ "$(id -u)" != 0 ] || get+=(-o APT::Sandbox::User=root)
  # `update` verifies the release file with the keyring, and the lists of packages by the release file.
  "${get[@]}" update >&2 || fail "the lists of Debian's packages could not be fetched"
  # The verified lists give each package's SHA-256. apt itself takes a file that is there by its size.
  # shellcheck disable=SC2086 # The packages are words.
  "${get[@]}" install -y --print-uris -o Acquire::ForceHash=SHA256 -o Dir::Cache::archives="$apt/none" $packages >"$apt/uris"
  # shellcheck disable=SC2086
  "${get[@]}" install -y --download-only $packages >&2 || fail "the packages could not be fetched"
  sed -n "s/^'[^']*' \([^ ]*\) [0-9]* SHA256:\([0-9a-f]*\)$/\2  \1/p" "$apt/uris" >"$apt/sums"
  [ "$(wc -l <"$apt/sums")" = "$(grep -c "^'" "$apt/uris")" ] || fail "a package has no SHA-256"
  (cd "$apt/cache/archives" && sha256sum --quiet -c "$apt/sums") || {
    rm -rf "$apt/cache/archives"
    fail "a package does not have its SHA-256"
  }
  for folder in bin sbin lib lib64; do
    mkdir -p "$tree/usr/$folder"
    ln -sfn "usr/$folder" "$tree/$folder"
  done
  while read -r _ package; do
    dpkg-deb --fsys-tarfile "$apt/cache/archives/$package" |
      tar -x -C "$tree" --no-same-owner --keep-directory-symlink "${without[@]}"
  done <"$apt/sums"
  ln -sf dash "$tree/usr/bin/sh"
  mkdir -p "$tree/etc"
  cp /etc/passwd /etc/group "$tree/etc/" # Foundation asks for the name of the user's folder.
  for folder in /*; do [ ! -d "$folder" ] || [ -L "$folder" ] || mkdir -p "$tree$folder"; done
  rm -rf "$apt/cache" "$apt/state/lists"
  echo "$stamp" >"$dir/done"
fi

mkdir -p "$dir/bin"
cat >"$dir/bin/.in" <<'W'
#!/bin/bash
# Runs the tool that it is called as (swift, swiftc, ...; `swift-in COMMAND...` for any program) in ../tree. The host's folders are at their
# own paths there. The mounts are private to the command and end with it.
tool=${0##*/}
here=$(cd "$(dirname "$0")/.." && pwd)
[ "$tool" != swift-in ] || { tool=$1; shift; }
SWIFT_TREE="$here/tree" exec unshare $([ $EUID = 0 ] || echo -r) -m --propagation private /bin/bash -c '
  set -e; r=$SWIFT_TREE; unset SWIFT_TREE
  for d in /*; do
    case $d in /bin|/sbin|/lib|/lib32|/lib64|/libx32|/usr|/etc|/boot|/lost+found) continue;; esac
    [ -d "$d" ] && [ ! -L "$d" ] || continue
    [ -d "$r$d" ] || mkdir "$r$d"
    mount --rbind "$d" "$r$d"
  done
  PATH=/usr/libexec/swift/bin:/usr/bin:/usr/sbin exec /usr/sbin/chroot "$r" /bin/sh -c "cd \"\$0\" && exec \"\$@\"" "$PWD" "$@"
' in "$tool" "$@"
W
chmod +x "$dir/bin/.in"
for tool in swift-in swift swiftc swift-format swift-symbolgraph-extract; do ln -sf .in "$dir/bin/$tool"; done
cd / && "$dir/bin/swift" --version 2>&1 | head -1 >&2
