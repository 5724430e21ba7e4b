"""The commands of `galloon`, one file each."""
