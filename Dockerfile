# SPDX-License-Identifier: BSD-3-Clause
FROM debian:bookworm AS build
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc libc6-dev cmake ninja-build libsqlite3-dev libcjson-dev zlib1g-dev libzstd-dev
WORKDIR /src
COPY . .
RUN cmake --preset demo -DCMAKE_INSTALL_PREFIX=/usr/local
RUN cmake --build --preset demo
RUN DESTDIR=/out cmake --install build/demo --strip

FROM debian:bookworm
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
    libsqlite3-0 libcjson1 zlib1g libzstd1 gnuplot-nox && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/usr/local /usr/local
COPY .ci/explore-lane /usr/local/bin/explore-lane
RUN useradd --create-home --uid 10001 gmpsim && mkdir /data && chown gmpsim /data
WORKDIR /data
USER gmpsim
ENTRYPOINT ["gmpsim"]
