# The command line of IsoScope in a small image, for jobs on a cluster (docs/machines.md):
#   docker build --tag isoscope .
#   docker run --rm --volume "$PWD:/data" isoscope check /data/history.txt
FROM rust:1-slim-bookworm AS build
WORKDIR /isoscope
COPY . .
RUN cargo build --release --locked --no-default-features --features databases

FROM debian:bookworm-slim
COPY --from=build /isoscope/target/release/isoscope /usr/local/bin/isoscope
ENTRYPOINT ["isoscope"]
