#!/usr/bin/env bash
# buildah as build_image.sh and try_image.py call it: neither an engine nor user namespaces nor a layered file system
# is needed, only plain copies, chroot and root. Its images lie in a folder of their own, which may be removed.
set -euo pipefail
CACHE=${GALLOON_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/galloon-image}
export BUILDAH_ISOLATION=chroot
exec buildah --storage-driver vfs --root "$CACHE/storage" --runroot "$CACHE/run" "$@"
