# Sourced by build_image.sh and try_image.sh: where images and downloads are kept, and how buildah is called.
# Nothing here touches the images of the machine; remove the folder to forget everything.
# shellcheck shell=bash  # sourced, so it has no first line of its own
IMAGE=${IMAGE:-localhost/galloon:latest}
BASE_IMAGE=localhost/galloon-base:bookworm
CACHE=${GALLOON_IMAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/galloon-image}
mkdir -p "$CACHE"

# Neither an engine nor user namespaces nor a layered file system is needed: plain copies, chroot, root.
in_buildah() {
  BUILDAH_ISOLATION=chroot buildah --storage-driver vfs --root "$CACHE/storage" --runroot "$CACHE/run" "$@"
}

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

stop_with() {
  say "$*"
  exit 1
}

[ "$(id -u)" = 0 ] || stop_with "must run as root: it makes a root file system and changes into it"
