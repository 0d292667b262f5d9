#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Writes the Python package as a wheel, with what is installed here, without network. With a program the wheel contains
# it: then pip install is all that a user of this architecture needs.
#
# Usage: tools/make-wheel.sh VERSION FOLDER [PROGRAM BASH]   static programs; PYTHON: the interpreter, with setuptools, wheel
set -eu -o pipefail

version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=${3:+$(realpath "$3")}
shell=${4:+$(realpath "$4")}
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c "safe.directory=*" log -1 --format=%ct 2>/dev/null || stat -c %Y NEWS.md)}
export SOURCE_DATE_EPOCH
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bpfmon"
cp tools/python/pyproject.toml LICENSE "$work/"
cp tools/python/bpfmon/*.py tools/python/bpfmon/py.typed "$work/bpfmon/"
sed -i "s/^__version__ = .*/__version__ = \"$version\"/" "$work/bpfmon/__init__.py"
if [ -n "$program" ]; then
	install -D -s "$program" "$work/bin/bpfmon"
	install -D -s "$shell" "$work/libexec/bpfmon/bash"
	cat >>"$work/pyproject.toml" <<-'END'

	[tool.setuptools.data-files]
	bin = ["bin/bpfmon"]
	"libexec/bpfmon" = ["libexec/bpfmon/bash"]
	END
	# any glibc, as none is linked
	printf '[bdist_wheel]\nplat_name = manylinux_2_17_%s\n' "$(uname -m)" >"$work/setup.cfg"
fi
"${PYTHON:-python3}" -m pip -q wheel --no-index --no-build-isolation --no-deps -w "$work/out" "$work"
mv "$work"/out/*.whl "$out/"
ls "$out"/bpfmon-*.whl
