#!/usr/bin/env bash
# Builds the Dockerfile without Docker: a base image by debootstrap, then buildah with chroot isolation.
# Needs root, buildah, debootstrap and a Python 3.11 with pip (PYTHON=...; default: the one of .venv).
# Packages come from where apt and pip of this machine get theirs. What was fetched is kept and used again.
# Prints the name, the identity and the size of the image.
set -euo pipefail
cd "$(dirname "$0")/.."
IMAGE=${IMAGE:-localhost/galloon:latest}
PYTHON=${PYTHON:-.venv/bin/python}
CACHE=${GALLOON_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/galloon-image}
SUITE=bookworm
BASE=localhost/galloon-base:$SUITE

say() { printf 'build_image.sh: %s\n' "$*" >&2; }

give_up() {
  say "$1"
  tail -n 30 "$2" >&2
  exit 1
}

# A stand-in for python:3.11-slim-bookworm: Debian, its Python, and pip where that image has it.
make_base() {
  local root mirror
  root=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$root'" EXIT
  # shellcheck disable=SC2016  # apt fills it in
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $SUITE" | head -n 1)
  say "making the base image by debootstrap; this takes a minute"
  debootstrap --variant=minbase --include=python3.11,python3 "$SUITE" "$root" ${mirror:+"$mirror"} \
    >"$CACHE/debootstrap.log" 2>&1 || give_up "debootstrap failed" "$CACHE/debootstrap.log"
  "$PYTHON" -m pip install -qq --target "$root/usr/local/lib/python3.11/dist-packages" pip
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/{doc,man,locale}/*
  tar -C "$root" --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -cf "$CACHE/base.partial" .
  mv "$CACHE/base.partial" "$CACHE/base-$SUITE.tar"
}

import_base() {
  local container
  container=$(deploy/buildah.sh from scratch)
  deploy/buildah.sh add --quiet "$container" "$CACHE/base-$SUITE.tar" / >/dev/null
  deploy/buildah.sh config --cmd python3 "$container"
  deploy/buildah.sh commit --quiet --rm "$container" "$BASE" >/dev/null
}

# Every wheel of the lock, checked by its hash here and again in the build, where pip has no network.
fetch_wheels() {
  sed -n '/^setuptools==/,/[^\\]$/p' requirements-dev.lock >"$CACHE/build.lock"
  WHEELS=$CACHE/wheels-$(cat requirements.lock "$CACHE/build.lock" | sha256sum | cut -c1-16)
  if [ ! -e "$WHEELS/.complete" ]; then
    say "fetching wheels"
    mkdir -p "$WHEELS"
    for lock in requirements.lock "$CACHE/build.lock"; do
      "$PYTHON" -m pip download -qq --only-binary :all: --require-hashes --dest "$WHEELS" --requirement "$lock"
    done
    touch "$WHEELS/.complete"
  fi
  printf '[global]\nno-index = true\nfind-links = /wheels\ndisable-pip-version-check = true\n' >"$CACHE/pip.conf"
}

[ "$(id -u)" = 0 ] || { say "must run as root: it makes a root file system"; exit 2; }
mkdir -p "$CACHE"
[ -e "$CACHE/base-$SUITE.tar" ] || make_base
deploy/buildah.sh inspect --type image "$BASE" >/dev/null 2>&1 || import_base
fetch_wheels
say "building $IMAGE"
deploy/buildah.sh build --format docker --build-arg "BASE=$BASE" --pull-never --tag "$IMAGE" \
  --volume "$WHEELS:/wheels:ro" --volume "$CACHE/pip.conf:/etc/pip.conf:ro" . \
  >"$CACHE/build.log" 2>&1 || give_up "the build failed" "$CACHE/build.log"
deploy/buildah.sh images --format '{{.Name}}:{{.Tag}} {{.ID}} {{.Size}}' "$IMAGE"
