# Two stages: the first makes the environment and compiles the kernels, the second holds nothing but the result.
# `docker build -t galloon .` needs no arguments; deploy/build_image.sh builds it without Docker, on a base of its own.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS builder
# For `strip`: wheels carry debugging symbols, those of OpenFst 700 MB of them. Debian keeps one version of it at a
# time, so that a pin would only break the build.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends binutils \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
RUN python3 -m venv --without-pip /opt/galloon
# What rarely changes comes first, so that its layer is found again.
COPY requirements.lock requirements-dev.lock ./
RUN python3 -m pip --python /opt/galloon/bin/python install --no-cache-dir --no-compile --require-hashes \
      --requirement requirements.lock \
 && find /opt/galloon/lib '(' -path '*/pynini.libs/*' -o -name '_pynini*.so' -o -name '_pywrapfst*.so' \
      -o -name libllvmlite.so ')' -exec strip --strip-unneeded {} + \
 && rm -rf /opt/galloon/lib/python3*/site-packages/numba/tests \
 && find /opt/galloon/lib/python3*/site-packages/numpy -name tests -type d -prune -exec rm -rf {} +
# The wheel is built by the version of setuptools that the lock pins, hashes and all.
COPY . .
RUN python3 -m venv --without-pip /opt/setuptools \
 && sed -n '/^setuptools==/,/[^\\]$/p' requirements-dev.lock > build.lock \
 && python3 -m pip --python /opt/setuptools/bin/python install --no-cache-dir --require-hashes \
      --requirement build.lock \
 && python3 -m pip --python /opt/setuptools/bin/python wheel --no-cache-dir --no-deps --no-build-isolation \
      --wheel-dir dist . \
 && python3 -m pip --python /opt/galloon/bin/python install --no-cache-dir --no-compile --no-deps --no-index dist/*.whl
# For any processor of the architecture: code for this one would be compiled again on another.
ENV NUMBA_CACHE_DIR=/opt/galloon/kernels \
    NUMBA_CPU_NAME=generic
# Importing everything that the commands import leaves its byte code behind, and that of nothing else.
RUN /opt/galloon/bin/python -c 'from galloon.__main__ import *; [main.get_command(None, n) for n in SUB_COMMANDS]' \
 && /opt/galloon/bin/python -c 'import galloon.daemon.app, galloon.clients.replay.results, galloon.clients.api.blocking' \
 && /opt/galloon/bin/python -m galloon.learners.kernels

FROM ${BASE}
LABEL org.opencontainers.image.title="galloon" \
      org.opencontainers.image.description="Combines the outputs of several OCR or ASR engines and learns online whom to trust where." \
      org.opencontainers.image.licenses="Apache-2.0"
# The number is fixed, so that a volume or a manifest can name it.
RUN groupadd --gid 10001 galloon \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin galloon \
 && install --directory --owner galloon --group galloon --mode 0700 /data
COPY --from=builder /opt/galloon /opt/galloon
# The kernels lie on the read-only root and are loaded from there (galloon.learners.kernels._sealed_cache).
# Free memory is given back to the system and not cached for each of gRPC's threads (GLIBC_TUNABLES).
# The ports face the network that the container is in. Without TLS and tokens the daemon therefore refuses to start,
# until GALLOON_SERVER_INSECURE_PUBLIC=true and GALLOON_HTTP_INSECURE_PUBLIC=true say that this network is safe.
ENV PATH=/opt/galloon/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/opt/galloon/kernels \
    NUMBA_CPU_NAME=generic \
    NUMBA_CACHE_LOCATOR_CLASSES=galloon.learners.kernels._sealed_cache.SealedCache \
    GALLOON_SERVER_LISTEN=0.0.0.0:7410 \
    GALLOON_HTTP_LISTEN=0.0.0.0:7411 \
    GALLOON_STORE_DATA_DIR=/data \
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7410 7411
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["galloon", "doctor", "--running"]
ENTRYPOINT ["galloon"]
CMD ["serve"]
