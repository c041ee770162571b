# Everything can be run alone; `make test` runs it all and installs what it needs.

# What `latchkey version` prints. A copy without git history is still buildable.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: build run test generate lint fuzz tamper audit-bench e2e examples console bench microbench clean plugins plugins-test dist dist-test deploy-test events deliveries limits convert failover powerloss pgbouncer postgres-versions

# -buildvcs=false: the version is set here, and a checkout that git refuses to
# read (another owner, no history) must not break the build.
build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/latchkey ./cmd/latchkey

# The programs that speak to hardware for a seal, beside the server: docs/seals.md.
plugins:
	scripts/plugins build

# With SoftHSM and swtpm.
plugins-test:
	scripts/plugins test

run: build
	bin/latchkey dev

test:
	scripts/test

# Everything that follows from the code: the Go client, goldens, documents.
generate:
	scripts/generate

lint:
	scripts/lint

# FUZZTIME=1m make fuzz looks longer.
fuzz:
	scripts/fuzz

# 10,000 random changes of a database of each kind, each of which must be noticed.
# LATCHKEY_TEST_SEED repeats a run.
tamper:
	LATCHKEY_TEST_CHANGES=$${LATCHKEY_TEST_CHANGES:-10000} go test -trimpath -timeout 3h -v -run TestRandomChanges ./internal/audit

# The audit of a million activities, and the start of a server on them: time and
# memory. It takes some minutes, most of them to make the database.
audit-bench:
	LATCHKEY_TEST_ACTIVITIES=$${LATCHKEY_TEST_ACTIVITIES:-1000000} go test -trimpath -timeout 3h -run '^$$' -bench BenchmarkVerify -benchtime 1x ./internal/audit

# 10,000 activities while the server and PostgreSQL are killed again and again:
# readers of events miss none.
events:
	LATCHKEY_TEST_EVENTS=$${LATCHKEY_TEST_EVENTS:-10000} go test -trimpath -timeout 3h -v -run TestEventsThroughKills ./cmd/latchkey

# 10,000 events on each store, while servers, receiver and PostgreSQL are killed; each
# delivery is verified by the published client and by another library.
deliveries:
	scripts/deliveries

# A million events in one window; and 64,000 requests under a limit, on each store,
# while the servers are killed.
limits:
	LATCHKEY_TEST_EVENTS=1000000 go test -trimpath -v -run TestManyEvents ./internal/velocity
	LATCHKEY_TEST_REQUESTS=$${LATCHKEY_TEST_REQUESTS:-64000} go test -trimpath -timeout 3h -v -run TestLimitsThroughKills ./cmd/latchkey

# An installation with 100,000 activities is brought from SQLite to PostgreSQL, while
# the conversion is killed, and back.
convert:
	LATCHKEY_TEST_ACTIVITIES=$${LATCHKEY_TEST_ACTIVITIES:-100000} go test -trimpath -timeout 3h -v -run TestConvert ./cmd/latchkey

# The primary of a Patroni cluster fails 100 times under load, by kill, stop and cut:
# nothing acknowledged is lost, nothing happens twice. FAILOVERS=3 is a short run, which
# `make test` has.
failover: build
	FAILOVERS=$${FAILOVERS:-100} scripts/failover

# The power fails 20 times on each store, under load, on a disk that forgets what was not
# flushed: nothing acknowledged is lost. Needs root.
powerloss: build
	scripts/powerloss

# The contract of the store, and a server, through PgBouncer in both modes.
pgbouncer: build
	scripts/pgbouncer

# The contract of the store on each major version of PostgreSQL that is supported.
postgres-versions:
	scripts/postgres-versions

e2e: build
	scripts/e2e

examples: build
	scripts/examples

# Builds the pages of the console into internal/console/dist, which is committed:
# docs/console.md.
console:
	scripts/console build

# The load on whole servers, against a bare one: bench/README.md. QUICK=1 make
# bench takes under a minute; BENCH holds further arguments.
bench: build
	cd bench && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o ../bin/bench .
	QUICK='$(QUICK)' scripts/bench $(BENCH)

# A release in dist/: programs, Debian packages, an image, the npm package, a bill of
# materials, manual and completion, with their sums. The same commit gives the same bytes.
dist:
	scripts/dist

# Makes it again and compares, and installs it: docs/releases.md.
dist-test: dist
	scripts/dist-test

# Runs, or has checked, what deploy/ holds: docs/deployment.md.
deploy-test: build
	scripts/deploy-test

# The benchmarks of single packages.
microbench:
	go test -run '^$$' -bench . -benchmem ./...

clean:
	rm -rf bin dist
