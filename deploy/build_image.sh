#!/usr/bin/env bash
# Builds the Dockerfile without Docker: a base image by debootstrap, then buildah with chroot isolation.
# Needs root, buildah, debootstrap and python3.11 with pip (PYTHON=... for another one, of the same version).
# Packages come from where apt and pip of this machine get theirs. What was fetched is kept and used again.
# Prints the name, the identity and the size of the image.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/image_settings.sh
source deploy/image_settings.sh
PYTHON=${PYTHON:-.venv/bin/python}
SUITE=bookworm

# A stand-in for python:3.11-slim-bookworm: Debian, its Python, and pip where that image has it.
make_base() {
  local root mirror
  root=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$root'" RETURN
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $SUITE" | head -n 1)
  say "making the base image by debootstrap; this takes a minute"
  debootstrap --variant=minbase --include=python3.11,python3 "$SUITE" "$root" ${mirror:+"$mirror"} >"$CACHE/debootstrap.log" 2>&1 \
    || stop_with "debootstrap failed; see $CACHE/debootstrap.log"
  "$PYTHON" -m pip install --quiet --target "$root/usr/local/lib/python3.11/dist-packages" pip
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/{doc,man,locale}/*
  tar -C "$root" --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -cf "$CACHE/base.partial" .
  mv "$CACHE/base.partial" "$CACHE/base-$SUITE.tar"
}

import_base() {
  local container
  container=$(in_buildah from scratch)
  in_buildah add --quiet "$container" "$CACHE/base-$SUITE.tar" / >/dev/null
  in_buildah config --cmd python3 "$container"
  in_buildah commit --quiet --rm "$container" "$BASE_IMAGE" >/dev/null
}

# Every wheel of the lock, checked by hash here and again in the build, which has no network but apt's.
fetch_wheels() {
  local key
  key=$(cat requirements.lock <(grep '^setuptools==' requirements-dev.lock) | sha256sum | cut -c1-16)
  WHEELS=$CACHE/wheels-$key
  if [ ! -e "$WHEELS/.complete" ]; then
    say "fetching wheels"
    mkdir -p "$WHEELS"
    sed -n '/^setuptools==/,/[^\\]$/p' requirements-dev.lock >"$CACHE/build.lock"
    "$PYTHON" -m pip download --quiet --only-binary :all: --require-hashes --dest "$WHEELS" \
      --requirement requirements.lock
    "$PYTHON" -m pip download --quiet --only-binary :all: --require-hashes --dest "$WHEELS" \
      --requirement "$CACHE/build.lock"
    touch "$WHEELS/.complete"
  fi
  printf '[global]\nno-index = true\nfind-links = /wheels\ndisable-pip-version-check = true\n' >"$CACHE/pip.conf"
}

[ -e "$CACHE/base-$SUITE.tar" ] || make_base
in_buildah inspect --type image "$BASE_IMAGE" >/dev/null 2>&1 || import_base
fetch_wheels
say "building $IMAGE"
in_buildah build --quiet --format docker --build-arg "BASE=$BASE_IMAGE" --pull-never \
  --volume "$WHEELS:/wheels:ro" --volume "$CACHE/pip.conf:/etc/pip.conf:ro" --tag "$IMAGE" . >"$CACHE/build.log" 2>&1 \
  || { tail -n 40 "$CACHE/build.log" >&2; stop_with "the build failed; all of it is in $CACHE/build.log"; }
in_buildah images --format '{{.Name}}:{{.Tag}} {{.ID}} {{.Size}}' "$IMAGE"
