# shellcheck shell=bash
# Shared by the scripts beside it: temporary files, missing packages, and one
# private PostgreSQL. Source it from the root of the checkout.

say() { printf '%s\n' "$*"; }
die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# --- Cleaning up -----------------------------------------------------------

work=""      # this run's own folder, removed at the end
postgres=""  # pid of the PostgreSQL that this run started
children=()  # pids of steps in the background, each leading its own process group

# begin makes the folder and ensures that nothing outlives the script.
begin() {
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d "${TMPDIR:-/tmp}/latchkey.XXXXXX")
	# PostgreSQL, which refuses to run as root, must be able to enter.
	chmod 711 "$work"
	# Go and npm keep their caches below HOME; some build accounts have none.
	if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then
		mkdir "$work/home"
		export HOME="$work/home" GOFLAGS="${GOFLAGS:-} -modcacherw"
	fi
}

finish() {
	local status=$?
	trap - EXIT INT TERM HUP
	set +e
	local pid
	for pid in ${children[@]+"${children[@]}"}; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	for pid in ${children[@]+"${children[@]}"}; do
		wait "$pid" 2>/dev/null
	done
	stop_postgres
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# background COMMAND… starts it as the leader of a process group, so that
# finish can end it with all that it started. Its pid is in $!.
background() {
	setsid "$@" </dev/null &
	children+=($!)
}

# await PID waits for one of them, whose number is then free for others.
await() {
	local status=0 pid rest=()
	wait "$1" || status=$?
	for pid in "${children[@]}"; do
		[ "$pid" = "$1" ] || rest+=("$pid")
	done
	children=(${rest[@]+"${rest[@]}"})
	return "$status"
}

# --- Packages --------------------------------------------------------------

# need PACKAGE… installs Debian packages, or says how to.
need() {
	local packages=("$@") root=()
	if [ "$(id -u)" != 0 ]; then
		if sudo -n true 2>/dev/null; then root=(sudo -n); else root=(cannot); fi
	fi
	if [ "${root[*]-}" = cannot ] || ! command -v apt-get >/dev/null; then
		die "missing: ${packages[*]}. Install with: sudo apt-get install -y --no-install-recommends ${packages[*]}"
	fi
	say "installing ${packages[*]}"
	if [[ " ${packages[*]} " == *" postgresql "* ]] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		# Only the programs are wanted, not a cluster that the system starts.
		${root[@]+"${root[@]}"} mkdir -p /etc/postgresql-common
		say 'create_main_cluster = false' | ${root[@]+"${root[@]}"} tee /etc/postgresql-common/createcluster.conf >/dev/null
	fi
	# Another apt-get may hold the lock (a second run of this script, an upgrade),
	# and a mirror may be away for a moment.
	local attempt
	for ((attempt = 0; attempt < 60; attempt++)); do
		if ${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5 update >"$work/apt.log" 2>&1 &&
			${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
				-o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
				install "${packages[@]}" >>"$work/apt.log" 2>&1 </dev/null; then
			return
		fi
		# Whatever else is wrong is tried twice more.
		grep -q 'Could not get lock' "$work/apt.log" || attempt=$((attempt + 20))
		sleep 5
	done
	tail -n 20 "$work/apt.log" >&2
	die "could not install ${packages[*]}. Try: sudo apt-get install -y --no-install-recommends ${packages[*]}"
}

# need_programs PACKAGE… is need for packages that bring services: only the programs are
# wanted, and the system is kept from starting the services.
need_programs() {
	if [ "$(id -u)" = 0 ] && [ ! -e /usr/sbin/policy-rc.d ]; then
		printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
		chmod 755 /usr/sbin/policy-rc.d
		need "$@"
		rm /usr/sbin/policy-rc.d
	else
		need "$@"
	fi
}

need_c_compiler() { # for the race detector
	local packages=()
	command -v gcc >/dev/null || packages+=(gcc)
	[ -e /usr/include/stdlib.h ] || packages+=(libc6-dev)
	[ ${#packages[@]} = 0 ] || need "${packages[@]}"
}

# What stands for the hardware of seals: a PKCS#11 token and a TPM in software.
need_seal_hardware() {
	local packages=()
	need_c_compiler
	command -v softhsm2-util >/dev/null || packages+=(softhsm2)
	command -v swtpm >/dev/null || packages+=(swtpm)
	[ ${#packages[@]} = 0 ] || need "${packages[@]}"
}

# The clients need Node 18; older test runners also lack what the suite uses.
node_is_current() {
	node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 18 || a === 18 && b >= 19 ? 0 : 1)' 2>/dev/null
}

need_node() {
	local packages=()
	command -v node >/dev/null || packages+=(nodejs)
	command -v npm >/dev/null || packages+=(npm)
	[ ${#packages[@]} = 0 ] || need "${packages[@]}"
	node_is_current || die "Node.js $(node --version) is too old: the end-to-end tests need 18.19 or newer (package nodejs)"
}

# install_npm FOLDER runs npm ci. That takes seconds even when there is nothing to
# do, so it is skipped while what is installed came from these very files. The lock
# is for a second run in the same checkout; it is taken on a file that is there
# anyway.
install_npm() (
	cd "$1"
	exec 9<package-lock.json
	flock 9
	hash=$(find . -name node_modules -prune -o \( -name package.json -o -name package-lock.json \) -print0 | sort -z | xargs -0 cat | sha256sum | cut -d' ' -f1)
	[ "$(cat node_modules/.installed-from 2>/dev/null)" != "$hash" ] || exit 0
	# What was fetched once is not asked for again, and a registry may be away for a
	# moment.
	for wait in 5 30 60 0; do
		! npm ci --no-progress --loglevel=error --prefer-offline --fetch-retries=5 || break
		[ "$wait" != 0 ] || die "npm ci failed in $1"
		sleep "$wait"
	done
	echo "$hash" >node_modules/.installed-from
)

# A browser for the clients that run in one; CHROMIUM names another.
need_chromium() {
	local name
	for name in ${CHROMIUM:-chromium chromium-browser google-chrome chrome}; do
		if command -v "$name" >/dev/null; then
			export CHROMIUM="$name"
			return
		fi
	done
	[ -z "${CHROMIUM:-}" ] || die "missing: $CHROMIUM, which CHROMIUM names"
	need chromium
	export CHROMIUM=chromium
}

# --- PostgreSQL ------------------------------------------------------------

# postgres_bin prints the folder of the newest server, 15 or later.
postgres_bin() {
	local dir version
	# shellcheck disable=SC2012
	for dir in "${PG_BIN:-}" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn) \
		"$(dirname "$(command -v postgres 2>/dev/null || echo /nowhere/postgres)")"; do
		if [ ! -x "$dir/initdb" ] || [ ! -x "$dir/postgres" ]; then continue; fi
		version=$("$dir/postgres" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
		if [ "$version" -ge 15 ]; then
			say "$dir"
			return
		fi
	done
	return 1
}

# as_postgres COMMAND… runs with nothing of our environment, whose PG… variables
# and locale would otherwise leak in, and as an ordinary user.
as_postgres() {
	local user=()
	if [ "$(id -u)" = 0 ]; then
		local name=postgres
		id -u postgres >/dev/null 2>&1 || name=nobody
		user=(setpriv "--reuid=$name" "--regid=$(id -g "$name")" --clear-groups --)
	fi
	exec ${user[@]+"${user[@]}"} env -i PATH="$PATH" LC_ALL=C "$@"
}

# start_postgres exports LATCHKEY_TEST_POSTGRES and PSQL. A URL that is already
# there wins: that is how the steps of scripts/test share one server.
start_postgres() {
	local bin dir base port log
	if [ -n "${LATCHKEY_TEST_POSTGRES:-}" ]; then
		export PSQL="${PSQL:-psql}"
		return
	fi
	bin=$(postgres_bin) || { need postgresql && bin=$(postgres_bin); } ||
		die "missing: a PostgreSQL server, 15 or newer. Install with: sudo apt-get install -y postgresql, or set PG_BIN to the folder of its programs"

	base="$work"
	(as_postgres test -x "$base") || base=/tmp # a private TMPDIR
	dir=$(mktemp -d "$base/latchkey-postgres.XXXXXX")
	postgres_dir=$dir
	log="$work/postgres.log"
	if [ "$(id -u)" = 0 ]; then
		chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$dir"
	fi
	(cd / && as_postgres "$bin/initdb" -D "$dir/data" -U postgres --auth=trust --no-sync --no-locale --encoding=UTF8) >"$log" 2>&1 ||
		{ cat "$log" >&2; die "initdb failed"; }

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		# Below the range that the kernel hands out itself. If it is taken, the
		# server stops at once and the next one is tried.
		port=$((20000 + RANDOM % 12000))
		# Durability is not what is tested here, but Latchkey insists on fsync.
		(cd / && as_postgres "$bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
			-c full_page_writes=off -c max_connections=500) >"$log" 2>&1 </dev/null &
		postgres=$!
		if await_postgres "$dir/data/postmaster.pid"; then
			export LATCHKEY_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable" PSQL="$bin/psql"
			return
		fi
		stop_postgres_process
	done
	cat "$log" >&2
	die "PostgreSQL did not start"
}

# await_postgres FILE waits for our own server to say that it is ready, in its
# pid file: asking the port could be answered by another one. A slow machine
# needs long; a port that is taken ends the server.
await_postgres() {
	local i
	for ((i = 0; i < 3000; i++)); do
		kill -0 "$postgres" 2>/dev/null || return 1
		[[ "$(sed -n 8p "$1" 2>/dev/null)" == ready* ]] && return 0
		sleep 0.1
	done
	return 1
}

postgres_dir=""

stop_postgres_process() {
	[ -n "$postgres" ] || return 0
	kill -INT "$postgres" 2>/dev/null || true # fast shutdown: open sessions are ended
	local i
	for ((i = 0; i < 100; i++)); do
		kill -0 "$postgres" 2>/dev/null || break
		sleep 0.1
	done
	kill -QUIT "$postgres" 2>/dev/null || true
	wait "$postgres" 2>/dev/null || true
	postgres=""
}

stop_postgres() {
	stop_postgres_process
	[ -z "$postgres_dir" ] || rm -rf "$postgres_dir"
}
