#!/usr/bin/env bash
# buildah as build_image.sh and try_image.py call it: neither an engine nor user namespaces are needed, only chroot
# and root. Its images lie in a folder of their own, which may be removed. Layers are stacked where this file system
# can do that, else copied whole, which is slower and works everywhere.
set -euo pipefail
CACHE=${GALLOON_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/galloon-image}

can_stack() {
  local probe status=1
  mkdir -p "$CACHE"
  probe=$(mktemp -d "$CACHE/probe.XXXX")
  mkdir "$probe/lower" "$probe/upper" "$probe/work" "$probe/merged"
  if mount -t overlay galloon -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" "$probe/merged" \
    2>/dev/null; then
    umount "$probe/merged"
    status=0
  fi
  rm -rf "$probe"
  return "$status"
}

if can_stack; then DRIVER=overlay; else DRIVER=vfs; fi
export BUILDAH_ISOLATION=chroot
exec buildah --storage-driver "$DRIVER" --root "$CACHE/$DRIVER" --runroot "$CACHE/$DRIVER-run" "$@"
