"""Compile every kernel into its cache: run at set-up and in the image, so that nobody waits for a compiler."""

from galloon.learners.kernels import warm_up

if __name__ == "__main__":
    warm_up()
