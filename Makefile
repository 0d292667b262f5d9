# SPDX-License-Identifier: BSD-2-Clause
# bpfmon: `make help` lists the targets.

VERSION := $(shell tools/version.sh)
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
CAPS_GROUP ?= bpfmon
BUILD   ?= build
# one spelling: the dependencies of an object name it as it was built
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
ARCH    ?= $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))

CC      ?= cc
CLANG   ?= clang
BPFTOOL ?= $(or $(wildcard /usr/sbin/bpftool),bpftool)
PYTHON  ?= python3
# compilations are kept where ccache is installed
CCACHE  ?= $(if $(findstring ccache,$(CC)),,$(shell command -v ccache))

# one line a file; V=1: each command; -s: nothing
IS_SILENT := $(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS))))
Q    := $(if $(V),,@)
say   = $(if $(V)$(IS_SILENT),,@printf '  %-7s %s\n' $(1) $@)
# as many jobs as there are CPUs, unless the caller has chosen
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

# no path of this folder is in what is built: two folders build the same, and share what ccache keeps
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=.
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(CI),-Werror)
# bytes of the stack for one function, as a line of a run has room for each metric; sanitizers add room between variables
FRAME   := $(if $(SANITIZE),,-Wframe-larger-than=24576)
CFLAGS  ?= -O2 -g
# hardening; a sanitizer's run-time replaces the checks of _FORTIFY_SOURCE
HARDEN_x86 := -fcf-protection
HARDEN_arm64 := -mbranch-protection=standard
HARDEN  := -fPIE -fstack-protector-strong -fstack-clash-protection $(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) \
	   $(HARDEN_$(ARCH))
CFLAGS_ALL := -std=gnu11 -pthread -D_GNU_SOURCE $(WARN) $(FRAME) -MMD -MP \
	      -Iinclude -Iuser/lib -Iuser -I$(BUILD) $(SYSROOT_CFLAGS) $(HARDEN) $(PREFIX_MAP) $(CFLAGS) $(SANITIZE) \
	      $(if $(STATIC),-DBPFMON_STATIC)
LIBS    := -lbpf -lelf -lz -ljansson -lsqlite3 -linih -lm
# what tests are linked with: the parts of all programs, and what these share, which reads the tables of a program
TEST_ARCHIVES = $(BUILD)/programs.a $(BUILD)/libbpfmon.a
# libcrypt is for the exporter, libcurl for bpfmon-push, which are not built for another architecture
TEST_LIBS = -Wl,--start-group $(TEST_ARCHIVES) -Wl,--end-group $(LIBS) $(if $(SYSROOT_LDFLAGS),,-lcrypt -lcurl)
LDFLAGS_ALL := -pthread -Wl,-z,relro,-z,now,-z,noexecstack $(if $(STATIC),-static-pie,-pie) $(SYSROOT_LDFLAGS) $(LDFLAGS) $(SANITIZE)

BPF_CFLAGS := -O2 -g -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	      -Wno-unused-parameter $(PREFIX_MAP) -MMD -MP -Iinclude -Ivmlinux/$(ARCH) \
	      -isystem /usr/include/$(shell uname -m)-linux-gnu

BPF_SRC  := $(wildcard bpf/*.bpf.c)
BPF_OBJ  := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/bpf/%.o)
SKELETON := $(BUILD)/bpfmon.skel.h
# of a source tarball, unless a source of it is newer
SHIPPED := $(wildcard skeleton/$(ARCH)/bpfmon.skel.h)
SHIPPED := $(if $(SHIPPED),$(if $(shell find bpf include vmlinux/$(ARCH) -type f -newer $(SHIPPED)),,$(SHIPPED)))
# one archive of what programs share, and programs, of which each folder is linked as a whole
objects = $(patsubst %.c,$(BUILD)/%.o,$(shell find $(addprefix user/,$(1)) -name '*.c' | sort))
LIB_OBJ := $(call objects,lib)
BPFMON_OBJ := $(call objects,bpfmon agent)
EXPORTER_OBJ := $(call objects,exporter board http)
PUSH_OBJ := $(call objects,push board)
TOP_OBJ := $(call objects,top)
WEB_OBJ := $(call objects,web http)
SHELL_OBJ := $(call objects,shell)
PROGRAM_OBJ := $(sort $(BPFMON_OBJ) $(EXPORTER_OBJ) $(PUSH_OBJ) $(TOP_OBJ) $(WEB_OBJ) $(SHELL_OBJ))
USER_OBJ := $(LIB_OBJ) $(PROGRAM_OBJ)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_OBJ := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%.o)
# SANITIZE of the unit tests and fuzz targets; casts of numbers that do not fit are in no group
UNIT_SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
GUEST_SRC := $(wildcard tests/kernels/guest/*.c)
TESTS ?= unit bpf e2e
LONG_TESTS := unit threads fuzz bpf e2e servers notebook systemd report kernels
LONG_DEPS := containers kernels servers slurm notebook report fuzz spans systemd shells python release kubelet deb
KERNELS ?= 6.1 6.12 6.16 6.18 6.19 7.0 7.2 6.1-arm64 7.2-arm64
TRUTH_FOLDERS := torture sockets
FAULTS := $(BUILD)/faults/faults.so
NVML_STUBS := $(BUILD)/nvml/libnvidia-ml.so.1 $(BUILD)/nvml-old/libnvidia-ml.so.1
TRUTH_BIN := $(patsubst tests/truth/%.c,$(BUILD)/truth/%,$(wildcard tests/truth/*.c)) $(TRUTH_FOLDERS:%=$(BUILD)/truth/%)

.PHONY: $(BUILD)/fuzz-all all fuzz sanitized fuzzed help run run-fleet check check-long check-unit check-bpf check-e2e check-servers check-notebook check-systemd check-report torture bench lint format coverage spank install install-slurm install-caps uninstall uninstall-slurm uninstall-caps deb dist wheel rpm clean \
	deps truth docs arm64 check-kernels guest image FORCE
.DELETE_ON_ERROR:

# those that cannot be static
DYNAMIC := $(if $(STATIC),,$(addprefix bpfmon-,exporter push top web))

all: $(BUILD)/bpfmon $(DYNAMIC:%=$(BUILD)/%) $(BUILD)/libexec/bash ## Build build/bpfmon, bpfmon-exporter, bpfmon-push, bpfmon-top, bpfmon-web and libexec/bash (STATIC=1: only the first and the last, without shared libraries)

help: ## List the targets
	@sed -n 's/^\([a-z][a-z0-9-]*\):[^#]*## \(.*\)/  \1	\2/p' Makefile | expand -t 17

deps: ## Install missing packages for building and testing, as root or by sudo (Debian, Ubuntu)
	tools/install-deps.sh

run: deps ## Install missing packages, build, monitor a sample workload: by BPF as root, else from /proc
	$(MAKE) all || { tools/explain-build.sh $(BUILD); exit 1; }
	BUILD=$(BUILD) tools/show-run.sh

run-fleet: deps ## Send jobs of agents and of simulated nodes to real databases, ask all dashboards, as root: 3 minutes (NODES=1000)
	tools/install-deps.sh servers
	$(MAKE) all
	$(PYTHON) tools/run-fleet.py $(if $(NODES),--nodes $(NODES))

check: deps ## Install missing packages, run the tests that the machine permits, as root all: 6 minutes (TESTS="unit kernels": these groups)
	KERNELS="$(KERNELS)" tools/run-tests.sh $(TESTS)

check-long: ## Run all tests with all of their cases, fuzzing, torture, nine kernels (as root): 1 hour
	tools/install-deps.sh $(LONG_DEPS)
	BPFMON_TESTS=long KERNELS="$(KERNELS)" tools/run-tests.sh $(LONG_TESTS)

check-unit: ## Run the unit tests (no root): 90 s
	tools/run-tests.sh unit

check-bpf: all truth ## Run the tests of the programs in the kernel (as root): 3 minutes
	tools/run-tests.sh bpf

check-e2e: all truth ## Run programs with a known truth (as root): 3 minutes
	tools/run-tests.sh e2e

check-servers: deps ## Send exports to real databases, on loopback (as root): 1 minute
	tools/run-tests.sh servers

check-notebook: deps ## Execute the notebook on 5,000 runs, and on few (as root): 2 minutes
	tools/run-tests.sh notebook

check-systemd: deps ## Boot a systemd in a container, with the agent as its service and from packages (as root): 2 minutes, and 2 for the first root file system
	tools/run-tests.sh systemd

check-kernels: deps ## Boot Debian's kernels in qemu, run the truth programs on each (KERNELS="6.1 7.2"): 2 minutes a kernel
	tools/install-deps.sh kernels
	tools/check-kernels.sh $(KERNELS)

check-report: all ## Open reports in a headless browser (as root, to install it): 2 minutes
	tools/run-tests.sh report

torture: all truth ## Compare random trees of processes with their own logs (as root; SECONDS=3600 SEED=1 COUNT=10 SOURCE=procfs or restarts): 1 minute, or SECONDS
	$(PYTHON) tests/torture/run.py $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(if $(SOURCE),--source $(SOURCE))

fuzz: ## Fuzz the parsers of untrusted bytes, each target so long (SECONDS=3600 TARGET=lines)
	tools/install-deps.sh fuzz
	tools/run-fuzz.sh $(or $(SECONDS),60) $(TARGET)

bench: all truth ## Measure the cost, as paired ratios with and without bpfmon (as root): 5 minutes
	$(PYTHON) tests/bench/bench.py --bpfmon $(BUILD)/bpfmon --build $(BUILD)/bench

lint: all ## Check format, static analysis, scripts, includes, generated docs: 1 minute, 8 for what has not been analysed before
	tools/lint.sh

format: ## Format the sources
	clang-format -i bpf/*.[ch] tools/c/*.h tests/fuzz/*.[ch] tests/faults/*.[ch] tests/gpu/*.c tests/nvml/*.c tests/truth/*/*.[ch] user/*/*.[ch] user/*/*/*.[ch] tests/unit/*.[ch] tests/bpf/*.c tests/kernels/*.c tests/kernels/*/*.[ch]
	@if command -v npm >/dev/null; then tools/check-javascript.sh --write; fi

docs: all ## Regenerate docs/METRICS.md, pictures, manual pages, dashboards; build/KERNELS.md, the table of kernels
	tools/gen-docs.sh
	tools/gen-pictures.py
	tools/gen-dashboards.py
	tools/gen-kernels.sh >$(BUILD)/KERNELS.md

coverage: ## Run the unit tests with coverage; report in build/coverage.txt: 3 minutes
	tools/coverage.sh

BIN   := $(DESTDIR)$(PREFIX)/bin/bpfmon
SHARE := $(DESTDIR)$(PREFIX)/share
MAN   := $(SHARE)/man
MANUAL := $(foreach n,1 8,$(patsubst docs/%.$n,$(SHARE)/%.$n,$(subst man/,man/man$n/,$(wildcard docs/man/*.$n))))
COMPLETION := $(SHARE)/bash-completion/completions/bpfmon
ZSH_COMPLETION := $(SHARE)/zsh/site-functions/_bpfmon
FISH_COMPLETION := $(SHARE)/fish/vendor_completions.d/bpfmon.fish
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/bpfmon
LENDING := $(LIBEXEC)/bpfmon
DOC   := $(SHARE)/doc/bpfmon
CONFIG := $(DESTDIR)$(SYSCONFDIR)/bpfmon/agent.conf
LIB   := $(DESTDIR)$(PREFIX)/lib
UNITDIR ?= $(PREFIX)/lib/systemd/system
UNITS := $(patsubst tools/systemd/%,$(DESTDIR)$(UNITDIR)/%,$(wildcard tools/systemd/*.service tools/systemd/*.socket))
SYSUSERS := $(patsubst tools/systemd/%.sysusers,$(LIB)/sysusers.d/%.conf,$(wildcard tools/systemd/*.sysusers))
TMPFILES := $(LIB)/tmpfiles.d/bpfmon.conf
HEADER := $(DESTDIR)$(PREFIX)/include/bpfmon.h
PACKAGE := $(SHARE)/bpfmon/python
# $(call unit,FILE,TO): a unit or document, with the paths of this installation
unit = sed -E -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|g' \
	-e 's,/usr/local/(bin/bpfmon|include|libexec|share),$(PREFIX)/\1,g' $(1) | install -D -m 644 /dev/stdin $(2)

install: all ## Install (PREFIX, SYSCONFDIR, DESTDIR)
	install -D -m 755 $(BUILD)/bpfmon $(BIN)
	rm -f $(LENDING)
	install -D -m 755 $(BUILD)/libexec/bash $(LIBEXEC)/bash
	install -m 755 tools/install-caps.sh $(LIBEXEC)/install-caps
	$(if $(DYNAMIC),install -m 755 $(DYNAMIC:%=$(BUILD)/%) $(LIBEXEC)/)
	install -d $(MAN)/man1 $(MAN)/man8
	install -m 644 docs/man/*.1 $(MAN)/man1/
	install -m 644 docs/man/*.8 $(MAN)/man8/
	install -D -m 644 docs/completion/bpfmon $(COMPLETION)
	install -D -m 644 docs/completion/_bpfmon $(ZSH_COMPLETION)
	install -D -m 644 docs/completion/bpfmon.fish $(FISH_COMPLETION)
	install -D -m 644 tools/c/bpfmon.h $(HEADER)
	install -d $(PACKAGE)/bpfmon
	install -m 644 tools/python/pyproject.toml LICENSE $(PACKAGE)/
	install -m 644 tools/python/bpfmon/*.py tools/python/bpfmon/py.typed $(PACKAGE)/bpfmon/
	sed -i 's/^__version__ = .*/__version__ = "$(VERSION)"/' $(PACKAGE)/bpfmon/__init__.py
	install -d $(SHARE)/bpfmon/grafana $(SHARE)/bpfmon/kubernetes $(SHARE)/bpfmon/rules
	install -m 644 share/bpfmon/grafana/*.json $(SHARE)/bpfmon/grafana/
	install -m 644 share/bpfmon/kubernetes/bpfmon.yaml $(SHARE)/bpfmon/kubernetes/
	install -m 644 share/bpfmon/rules/bpfmon.yml $(SHARE)/bpfmon/rules/
	install -D -m 755 share/bpfmon/slurm/prolog.sh $(SHARE)/bpfmon/slurm/prolog.sh
	install -d $(DOC)
	install -m 644 NEWS.md LICENSE docs/*.svg docs/agent.conf docs/bpfmon-1.schema.json tools/notebook/bpfmon.ipynb $(DOC)/
	$(foreach from,README.md docs/sudoers $(wildcard docs/*.md),$(call unit,$(from),$(DOC)/$(notdir $(from))) &&) true
	$(foreach to,$(UNITS),$(call unit,tools/systemd/$(notdir $(to)),$(to)) &&) true
	install -d $(LIB)/sysusers.d
	$(foreach to,$(SYSUSERS),install -m 644 tools/systemd/$(notdir $(to:.conf=.sysusers)) $(to) &&) true
	$(call unit,tools/systemd/tmpfiles.conf,$(TMPFILES))
	[ -e $(CONFIG) ] || sed 's/^#admin_group =$$/admin_group = bpfmon-admin/' docs/agent.conf | install -D -m 644 /dev/stdin $(CONFIG)

# the plugin is for the Slurm whose headers are installed, to the minor version
SPANK := $(BUILD)/spank_bpfmon.so
spank: $(SPANK) ## Build the plugin for srun and sbatch --bpfmon (libslurm-dev)

$(SPANK): tools/slurm/spank_bpfmon.c
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) -fPIC -shared $(LDFLAGS) $< -o $@

SLURM_FILES := $(LIB)/bpfmon/spank_bpfmon.so $(DESTDIR)$(SYSCONFDIR)/slurm/plugstack.conf.d/bpfmon.conf

install-slurm: spank ## Install the plugin for Slurm and its configuration (PREFIX, SYSCONFDIR, DESTDIR)
	install -D -m 644 $(SPANK) $(firstword $(SLURM_FILES))
	$(call unit,share/bpfmon/slurm/plugstack.conf,$(lastword $(SLURM_FILES)))

uninstall-slurm: ## Take that back (PREFIX, SYSCONFDIR, DESTDIR)
	rm -f $(SLURM_FILES)

install-caps: install ## Install, with a copy that measures without root for the group bpfmon (CAPS_GROUP, PREFIX, DESTDIR; as root)
	$(LIBEXEC)/install-caps $(if $(DESTDIR),,--make-group) $(CAPS_GROUP)

uninstall-caps: ## Take that back: remove the copy (PREFIX, DESTDIR)
	rm -f $(LENDING)

uninstall: ## Remove the installed files, but not the configuration (PREFIX, DESTDIR)
	rm -f $(BIN) $(MANUAL) $(COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION) $(UNITS) $(SYSUSERS) $(TMPFILES) $(HEADER)
	rm -rf $(DOC) $(LIBEXEC) $(SHARE)/bpfmon

deb: ## Install missing packages, build packages for this Debian or Ubuntu in build/deb: 3 minutes
	tools/install-deps.sh deb
	tools/make-deb.sh $(VERSION) $(BUILD)/deb

dist: ## Write the source tarball of the last commit into build/dist, with compiled programs of the kernel and an SBOM (STATIC=1: and a tarball of static programs)
	tools/make-dist.sh $(BUILD)/dist $(if $(STATIC),static)

wheel: ## Build the Python package as a wheel in build/dist (STATIC=1: with the program in it)
	$(if $(STATIC),$(MAKE) BUILD=$(BUILD)/static all)
	PYTHON=$(PYTHON) tools/make-wheel.sh $(VERSION) $(BUILD)/dist $(STATIC:%=$(BUILD)/static/bpfmon $(BUILD)/static/libexec/bash)

DIST := $(BUILD)/dist/bpfmon-$(patsubst %+dirty,%,$(patsubst %.dirty,%,$(VERSION))).tar.gz
rpm: dist ## Build RPM packages of the last commit in build/rpm (elsewhere: rpmbuild -ta bpfmon-VERSION.tar.gz)
	rpmbuild -ta --quiet --define "_topdir $(abspath $(BUILD))/rpm" $(if $(wildcard /etc/debian_version),--nodeps) $(DIST)

arm64: ## Cross-compile a static build/arm64/bpfmon
	tools/build-arm64.sh

image: ## Make a container image of the static agent and the exporter, by buildah or podman (IMAGE=NAME:TAG)
	$(MAKE) BUILD=build/static STATIC=1 build/static/bpfmon build/static/bpfmon-exporter
	tools/make-image.sh build/static $(or $(IMAGE),localhost/bpfmon:latest)

clean: ## Remove the build folder
	rm -rf $(BUILD)

truth: $(TRUTH_BIN) $(if $(STATIC),,$(FAULTS) $(NVML_STUBS) $(BUILD)/nvmlpass $(BUILD)/gpuload) $(BUILD)/findcontainer $(BUILD)/accounts $(BUILD)/drains $(BUILD)/spans

guest: $(BUILD)/bpfmon $(BUILD)/kernels/guest $(BUILD)/kernels/verified $(TRUTH_BIN)

$(BUILD)/bpf/%.o: bpf/%.bpf.c
	$(call say,CLANG)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(BUILD)/bpfmon.bpf.o: $(BPF_OBJ)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKELETON): $(or $(SHIPPED),$(BUILD)/bpfmon.bpf.o)
	$(call say,SKEL)
	$(Q)$(if $(SHIPPED),cp $< $@,$(BPFTOOL) gen skeleton $< name bpfmon >$@)

# written where it differs, as each commit has a version of its own: few files include it
$(BUILD)/version.h: FORCE
	@mkdir -p $(@D)
	@echo '#define BPFMON_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define BPFMON_VERSION "$(VERSION)"' >$@

# the first build has no dependency files yet that would order this
$(USER_OBJ) $(UNIT_OBJ): | $(BUILD)/version.h
$(filter $(BUILD)/user/lib/measure/%,$(LIB_OBJ)): | $(SKELETON)

$(BUILD)/user/%.o: user/%.c
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CFLAGS_ALL) -c $< -o $@

$(BUILD)/bpfmon: $(BPFMON_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

# never static: the libraries of TLS are only shared
$(BUILD)/bpfmon-exporter: $(EXPORTER_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	$(Q)$(CC) $(patsubst -static-pie,-pie,$(LDFLAGS_ALL)) $^ -lmicrohttpd -ljansson -linih -lcrypt -lm -o $@

# never static: ncurses reads the descriptions of terminals that the machine has
$(BUILD)/bpfmon-top: $(TOP_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	$(Q)$(CC) $(patsubst -static-pie,-pie,$(LDFLAGS_ALL)) $^ -lncursesw -ltinfo -ljansson -lsqlite3 -linih -lm -o $@

$(BUILD)/bpfmon-push: $(PUSH_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	$(Q)$(CC) $(patsubst -static-pie,-pie,$(LDFLAGS_ALL)) $^ -ljansson -linih -lm -lcurl -lz -o $@

# all of bpfmon's libraries, too: it reads stores
$(BUILD)/bpfmon-web: $(WEB_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	$(Q)$(CC) $(patsubst -static-pie,-pie,$(LDFLAGS_ALL)) $^ $(LIBS) -lmicrohttpd -o $@

# static: without a dynamic linker it starts in half the time; a sanitizer's run-time cannot be
$(BUILD)/libexec/bash: $(SHELL_OBJ) $(BUILD)/libbpfmon.a
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -pie -static-pie,$(LDFLAGS_ALL)) $(if $(SANITIZE),-pie,-static-pie) $^ -lm -o $@

# each file of unit tests is a program of its own, or a word for the one program that has them all: its main() is declared
# and has its name
$(BUILD)/unit/%.o: tests/unit/%.c | $(SKELETON)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(CFLAGS_ALL) '-Dmain=$*_main(void); int $*_main' -c $< -o $@

$(BUILD)/unit/%: $(BUILD)/unit/%.o $(TEST_ARCHIVES)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS_ALL) $< $(TEST_LIBS) -lcmocka -Wl,--defsym=main=$*_main -o $@

$(BUILD)/unit/all.c: $(UNIT_SRC) Makefile
	@mkdir -p $(@D)
	$(Q)set -- $(basename $(notdir $(UNIT_SRC))); { \
		printf '#include <stdio.h>\n#include <string.h>\n'; \
		printf 'int %s_main(void);\n' "$$@"; \
		printf 'int main(int argc, char **argv)\n{\n'; \
		for name; do printf '\tif (argc == 2 && !strcmp(argv[1], "%s"))\n\t\treturn %s_main();\n' $$name $$name; done; \
		printf '\tfprintf(stderr, "usage: all NAME, a file of tests/unit\\n");\n\treturn 2;\n}\n'; } >$@

$(BUILD)/unit/all: $(BUILD)/unit/all.c $(UNIT_OBJ) $(TEST_ARCHIVES)
	$(call say,LINK)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) $(LDFLAGS_ALL) $(filter-out %.a,$^) $(TEST_LIBS) -lcmocka -o $@

$(BUILD)/truth/%: tests/truth/%.c tests/truth/truth.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -static -std=gnu11 -Wall -Wextra -Werror -pthread $< -o $@

$(BUILD)/truth/insider: tools/c/bpfmon.h

# for tools/check-gpu.sh; never static: it loads the driver
$(BUILD)/gpuload: tests/gpu/gpuload.c
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -Wall -Wextra -Werror $< -ldl -o $@

$(TRUTH_FOLDERS:%=$(BUILD)/truth/%): $(wildcard tests/truth/*/*.[ch]) tests/truth/truth.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -static -std=gnu11 -Wall -Wextra -Werror -pthread $(filter tests/truth/$(@F)/%.c,$^) -o $@

$(FAULTS): $(wildcard tests/faults/*)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fno-builtin -fPIC -shared $(filter %.c,$^) -o $@

# in place of NVIDIA's library, as a new driver has it and as an old one; without sanitizers
$(NVML_STUBS): tests/nvml/stub.c user/lib/measure/nvml_library.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE -Iuser/lib -Wall -Wextra -Werror -fvisibility=hidden -fPIC -shared \
		$(if $(findstring nvml-old,$@),-DNVML_STUB_OLD) -Wl,-soname,libnvidia-ml.so.1 $< -o $@

$(BUILD)/nvmlpass: tests/nvml/nvmlpass.c $(TEST_ARCHIVES)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(TEST_LIBS) -o $@

$(BUILD)/unit/all $(BUILD)/unit/test_nvml $(BUILD)/unit/test_nvml_uses $(BUILD)/unit/test_nvml_accounts: | $(NVML_STUBS)

$(BUILD)/findcontainer: tests/e2e/findcontainer.c $(TEST_ARCHIVES)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(TEST_LIBS) -o $@

$(BUILD)/accounts $(BUILD)/drains $(BUILD)/spans: $(BUILD)/%: tests/bpf/%.c $(TEST_ARCHIVES)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(TEST_LIBS) -o $@

$(BUILD)/kernels/guest: $(GUEST_SRC) tests/kernels/guest/guest.h
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) $(filter-out -pie,$(LDFLAGS_ALL)) -static-pie $(GUEST_SRC) -ljansson -lm -o $@

$(BUILD)/kernels/verified: tests/kernels/verified.c $(BUILD)/libbpfmon.a
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $< $(BUILD)/libbpfmon.a $(LIBS) -o $@

# What each page of a report has in it is minified where esbuild is there; without it pages are heavier and work
# as well. It is included by .incbin, which the compiler does not list as a dependency.
PAGE_SRC := $(wildcard user/lib/page/assets/*)
PAGE_OUT := $(PAGE_SRC:user/lib/page/assets/%=$(BUILD)/page/%) $(BUILD)/page/uplot.js $(BUILD)/page/uplot.css
$(BUILD)/user/lib/page/assets.o: $(PAGE_OUT) $(wildcard third_party/uplot/*)
$(BUILD)/user/lib/page/assets.o: CFLAGS_ALL += -Wa,-I$(BUILD)

ESBUILD := $(shell command -v esbuild)
minify = $(if $(ESBUILD),$(ESBUILD) --minify --legal-comments=none --log-level=warning --loader=$(1),cat) <$(2) >$@

$(BUILD)/page/%.css: user/lib/page/assets/%.css
	@mkdir -p $(@D)
	$(Q)$(call minify,css,$<)

# of uPlot, which is minified already, without what no page uses
$(BUILD)/page/uplot.js: third_party/uplot/uPlot.iife.min.js tools/cut-uplot.awk
	@mkdir -p $(@D)
	$(Q)awk -f tools/cut-uplot.awk $< >$@.new && mv $@.new $@

$(BUILD)/page/uplot.css: third_party/uplot/uPlot.min.css tools/cut-uplot.awk
	@mkdir -p $(@D)
	$(Q)awk -f tools/cut-uplot.awk $< >$@.new && $(call minify,css,$@.new) && rm $@.new

$(BUILD)/page/%.html: user/lib/page/assets/%.html
	@mkdir -p $(@D)
	$(Q)cp $< $@

# the same of the pages that bpfmon-web adds
WEB_PAGE_OUT := $(patsubst user/web/assets/%,$(BUILD)/web/%,$(wildcard user/web/assets/*))
$(BUILD)/user/web/pages.o: $(WEB_PAGE_OUT)
$(BUILD)/user/web/pages.o: CFLAGS_ALL += -Wa,-I$(BUILD)

# the scripts of all pages at once: the served page of a run calls those of a report
PAGE_JS := user/lib/page/assets/base.js $(filter-out %/base.js,$(sort $(filter %.js,$(PAGE_SRC))))
WEB_PAGE_JS := $(sort $(wildcard user/web/assets/*.js))
$(PAGE_JS:user/lib/page/assets/%=$(BUILD)/page/%) $(WEB_PAGE_JS:user/web/assets/%=$(BUILD)/web/%) &: $(PAGE_JS) $(WEB_PAGE_JS) tools/minify-scripts.sh
	$(Q)tools/minify-scripts.sh $(BUILD)/scripts $(PAGE_JS) $(WEB_PAGE_JS)
	$(Q)mkdir -p $(BUILD)/page $(BUILD)/web
	$(Q)cd $(BUILD)/scripts && mv $(notdir $(PAGE_JS)) ../page && mv $(notdir $(WEB_PAGE_JS)) ../web

$(BUILD)/web/%.css: user/web/assets/%.css
	@mkdir -p $(@D)
	$(Q)$(call minify,css,$<)

$(BUILD)/web/%.html: user/web/assets/%.html
	@mkdir -p $(@D)
	$(Q)cp $< $@

# a change of version or flags rebuilds
$(USER_OBJ) $(BPF_OBJ): Makefile

-include $(BPF_OBJ:.o=.d) $(USER_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(BUILD)/kernels/verified.d $(BUILD)/findcontainer.d $(BUILD)/accounts.d $(BUILD)/drains.d $(BUILD)/spans.d $(BUILD)/nvmlpass.d

# by make SANITIZE=...: the unit tests, and clang for the targets of the fuzzer; warnings are errors as in CI, since CI
# compiles the unit tests by clang alone and make check by gcc alone
sanitized:
	$(MAKE) BUILD=build/sanitized CI=1 SANITIZE="$(UNIT_SANITIZE)" build/sanitized/unit/all

fuzzed:
	$(MAKE) BUILD=build/fuzzed CI=1 CC=$(CLANG) \
		SANITIZE="$(UNIT_SANITIZE) -fsanitize=fuzzer-no-link" build/fuzzed/unit/all build/fuzzed/fuzz-all

# archives: a target may replace functions that would run a program or read a file
$(BUILD)/libbpfmon.a: $(LIB_OBJ)
$(BUILD)/programs.a: $(filter-out %/main.o,$(PROGRAM_OBJ))
$(BUILD)/libbpfmon.a $(BUILD)/programs.a:
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/fuzz/%: tests/fuzz/%.c $(TEST_ARCHIVES)
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -Itests/fuzz -fsanitize=fuzzer $< $(TEST_LIBS) -o $@

$(BUILD)/fuzz-all: $(FUZZ_BIN)

-include $(addsuffix .d,$(FUZZ_BIN))
