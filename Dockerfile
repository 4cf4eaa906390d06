# The image of Minibus: one static binary on nothing.
#
#   docker build -t minibus .
#   docker run --rm -p 127.0.0.1:5672:5672 -p 127.0.0.1:5300:5300 minibus

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=devel
ARG COMMIT
ARG DATE
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOTOOLCHAIN=local \
    go build -trimpath -buildvcs=false -o /image/minibus -ldflags "-s -w -X minibus/server.version=$VERSION \
    -X minibus/server.revision=$COMMIT -X minibus/server.revisionTime=$DATE" ./cmd/minibus
RUN --mount=type=cache,target=/root/.cache/go-build \
    GOTOOLCHAIN=local go -C packaging/licenses run . /image/licenses/THIRD-PARTY-LICENSES.txt && cp LICENSE /image/licenses/
# The directory of Microsoft's image, which mounts, copies and tests expect, and those that the binary writes to. A volume for /data
# gets its mode, so that any user of the container can write there. /data is not sticky: Minibus, started as root, takes it over.
RUN mkdir -p /image/ServiceBus_Emulator/ConfigFiles /image/data /image/tmp && chmod 1777 /image/tmp && chmod 0777 /image/data

FROM scratch
COPY --from=build /image/ /

# Spring Boot recognises the container by this label, whatever the image is called.
LABEL org.springframework.boot.service-connection=azure-messaging/servicebus-emulator
# Tools find a running Minibus by its title. A release adds the repository (packaging/image.sh).
ARG VERSION=devel
ARG COMMIT
ARG DATE
LABEL org.opencontainers.image.title="Minibus" \
      org.opencontainers.image.description="A local Azure Service Bus" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$COMMIT \
      org.opencontainers.image.created=$DATE

# Minibus starts as root, reads the configuration (which may be of mode 0600), binds its ports, takes over /data and then
# becomes this user. If it starts as another user, or without the capabilities for this, it keeps its user.
ENV MINIBUS_USER=1654:1654 \
    MINIBUS_HOST=all \
    MINIBUS_DATA_DEFAULT=/data/minibus.db \
    MINIBUS_EXTRA_PORTS_DEFAULT=443,80

# 443 and 80 are for administration clients that drop the port. They speak all protocols, as the others do. Minibus leaves them
# out if it can't bind them.
EXPOSE 5672 5671 5300 443 80
VOLUME /data
HEALTHCHECK --interval=2s --timeout=4s --start-period=30s --retries=3 CMD ["/minibus", "healthcheck"]
ENTRYPOINT ["/minibus"]
