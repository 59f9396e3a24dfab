# One static binary in an empty image.
ARG GO_IMAGE=golang:1.26-bookworm
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY main.go ./
COPY .github/workflows ./.github/workflows
COPY internal ./internal
# grammar_*: of the parser's 200 grammars those with rules in internal/chunker.
ARG GRAMMARS="grammar_subset grammar_subset_javascript grammar_subset_typescript grammar_subset_tsx \
 grammar_subset_python grammar_subset_java grammar_subset_rust grammar_subset_c grammar_subset_cpp \
 grammar_subset_c_sharp grammar_subset_ruby grammar_subset_php grammar_subset_bash"
# Without inlining (-l) code is a fifth smaller. The parser, the runtime and what is not named here are compiled as ever; of
# several flags for a package the last one counts (decision 23).
ARG PLAIN="-gcflags=github.com/...=-l -gcflags=golang.org/...=-l -gcflags=go.opentelemetry.io/otel/sdk/...=-l \
 -gcflags=go.opentelemetry.io/otel/trace/...=-l -gcflags=go.opentelemetry.io/auto/...=-l \
 -gcflags=filippo.io/...=-l -gcflags=vendor/...=-l -gcflags=archive/...=-l -gcflags=context/...=-l \
 -gcflags=crypto/...=-l -gcflags=encoding/...=-l -gcflags=flag/...=-l -gcflags=fmt/...=-l -gcflags=go/...=-l \
 -gcflags=html/...=-l -gcflags=log/...=-l -gcflags=math/big/...=-l -gcflags=mime/...=-l -gcflags=net/...=-l \
 -gcflags=os/...=-l -gcflags=path/...=-l -gcflags=regexp/syntax/...=-l -gcflags=text/...=-l -gcflags=time/...=-l \
 -gcflags=github.com/odvcencio/...="
RUN CGO_ENABLED=0 go build -tags "nopostgres noprograms ${GRAMMARS}" ${PLAIN} -trimpath -buildvcs=false -ldflags="-s -w -funcalign=1" -o /pr-review .

# Root, since the runner's files belong to root; no shell, no package manager.
FROM scratch AS action
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /pr-review /pr-review
ENTRYPOINT ["/pr-review"]

# For public review benchmarks (.github/EVALS.md): started without arguments, it reviews the change that RB_* name.
FROM action AS benchmark
ENTRYPOINT ["/pr-review", "eval", "findings"]

FROM action
