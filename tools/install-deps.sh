#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs the missing packages for building and testing. Debian and Ubuntu. As an ordinary user it calls sudo, and
# only if a package is missing; it fails if that is no use and bpfmon cannot be built or tested without the package.
#
# Usage: tools/install-deps.sh [kernels] [containers] [servers] [notebook] [report] [fuzz] [spans] [systemd] [shells] [python] [release] [kubelet] [deb] [slurm]
#   kernels: for booting other kernels; containers: for the tests with containers and network namespaces;
#   servers: the databases for exports, none of which is started; notebook: for executing the notebook;
#   report: the browser for reports, and npm, which also fetches the linter of JavaScript;
#   fuzz: clang's libFuzzer and sanitizers; spans: programs that start jobs, for the recipes of docs/PARTS.md;
#   systemd: for booting a systemd in a container; shells: those whose completion is tested, what the README calls,
#   tmux, in which top is looked at, and hyperfine, with which bench is compared;
#   python: what the tests of the Python package and of bpfmon.h use, and mypy; release: for RPM packages, the SBOM and
#   the templates of CI; kubelet: for building and starting one; deb: what builds Debian packages, and lintian;
#   slurm: for building its plugin, and a cluster of two nodes, with accounting, for its tests
set -eu

apt_install() { # PACKAGE...
	# the servers are for tests only: none is started as a service
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		trap 'rm -f $policy' EXIT
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=900 -qq update
	apt-get -o DPkg::Lock::Timeout=900 -qq install -y --no-install-recommends "$@"
}

if [ "${1:-}" = --packages ]; then # as root, called by this script: those that it has found missing
	shift
	apt_install "$@"
	exit
fi

packages="gcc make clang llvm libbpf-dev libelf-dev zlib1g-dev libjansson-dev libsqlite3-dev libinih-dev libcmocka-dev
	libmicrohttpd-dev libcurl4-openssl-dev libcrypt-dev libncurses-dev linux-libc-dev python3"
# of lint, of single tests, and of smaller pages: without them the rest works
dispensable="g++ ccache esbuild sudo libcap2-bin time clang-format clang-tidy cppcheck shellcheck yamllint git ca-certificates"
for also in "$@"; do
	case $also in
	kernels) packages="$packages qemu-system-x86 qemu-system-arm cpio e2fsprogs util-linux
		debian-archive-keyring" ;;
	containers) packages="$packages podman runc crun bubblewrap uidmap iproute2 curl iperf3" ;;
	servers) packages="$packages prometheus influxdb victoria-metrics python3-prometheus-client" ;;
	notebook) packages="$packages python3-pandas python3-matplotlib python3-nbclient python3-ipykernel" ;;
	spans) packages="$packages snakemake parallel openmpi-bin" ;;
	systemd) packages="$packages systemd systemd-container debootstrap debian-archive-keyring" ;;
	python) packages="$packages python3-pytest python3-pytest-xdist python3-ipython python3-build python3-setuptools
		python3-wheel python3-pip mypy locales" ;;
	release) packages="$packages rpm rpmlint pkg-config yamllint python3-yaml python3-jsonschema" ;;
	kubelet) packages="$packages golang-go dpkg-dev debian-archive-keyring containerd runc podman openssl python3-yaml" ;;
	deb) packages="$packages build-essential debhelper dh-python pybuild-plugin-pyproject python3-all python3-setuptools
		python3-wheel esbuild libslurm-dev lintian" ;;
	slurm) packages="$packages libslurm-dev slurmctld slurmd slurm-client slurmdbd munge mariadb-server-core
		mariadb-client-core" ;;
	shells) packages="$packages zsh fish man-db less jq tmux ncurses-base hyperfine" ;;
	report)
		packages="$packages chromium fonts-dejavu-core"
		# others than the distribution's nodejs bring npm along, and exclude its package
		command -v npm >/dev/null || packages="$packages nodejs npm"
		;;
	fuzz)
		# older releases have it in the package of clang itself
		[ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nonexistent)" \
			-name 'libclang_rt.fuzzer*' 2>/dev/null)" ] || packages="$packages libclang-rt-dev"
		;;
	*) echo "no such group of packages: $also" >&2 && exit 2 ;;
	esac
done
# Ubuntu has bpftool in linux-tools-common; Debian in a package of its own
if [ ! -x /usr/sbin/bpftool ]; then
	packages="$packages bpftool"
fi

missing_of() { # PACKAGE...
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$p"
	done
}

# shellcheck disable=SC2086 # lists, here and below
needed=$(missing_of $packages)
# shellcheck disable=SC2086
missing=$needed$(missing_of $dispensable)
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2086
	apt_install $missing
	exit
fi
if command -v sudo >/dev/null; then
	echo "calling sudo to install missing packages:$missing" >&2
	# it may ask for a password only where there is a terminal to answer on
	ask=-n
	if (: </dev/tty) 2>/dev/null; then ask=; fi
	# shellcheck disable=SC2086
	if sudo $ask -- "$0" --packages $missing; then exit 0; fi
fi
echo "missing packages:$missing; neither root nor sudo could install them: as root, apt-get install$missing" >&2
[ -z "$needed" ] || exit 1
echo "going on without them: what needs them is left out" >&2
