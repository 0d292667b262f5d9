// SPDX-License-Identifier: BSD-2-Clause
#include "measure/gpu_reader.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/user.h"
#include "measure/drm.h"
#include "measure/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEV "/dev"
#define SYS "/sys"
#define PASS_LEAST_NS (100 * NSEC_PER_MSEC)
#define PASS_MOST_NS NSEC_PER_SEC
#define COPY_TRIES 1000
#define ASKED_NS (100 * NSEC_PER_MSEC)
#define TRY_AGAIN_NS (10 * NSEC_PER_SEC) /* between attempts to open the library */

/*
 * Each side writes only its own half. A result alternates between two places, so that a reader that
 * dies or hangs in a pass leaves the last one whole. A list of processes is copied while its number
 * is even and unchanged; else the reader keeps the last one.
 */
struct shared {
	_Atomic uint64_t passes; /* the last is in tables[passes % 2] */
	struct gpu_table tables[2];
	_Atomic uint64_t lists;
	uint32_t nr_pids;
	uint32_t pids[GPU_READER_PIDS];
};

struct gpu_reader {
	struct shared *shared; /* owned */
	uint64_t taken;        /* passes */
	uint64_t interval_ns;
	int alive_fd; /* owned; its end tells the process to end */
	pid_t pid;
};

/* In the process itself. */
struct pass {
	struct shared *shared;
	struct nvml *nvml; /* NULL: not open */
	struct drm *drm;   /* NULL: out of memory */
	uint64_t try_ns;   /* when to open the library again */
	char why[sizeof(((struct gpu_table *)0)->why)];
	uint32_t nr_pids;
	uint32_t pids[GPU_READER_PIDS], copied[GPU_READER_PIDS];
};

/* Reads it after all reads before: what a fence is for, which the sanitizer of threads lacks. */
static uint64_t atomic_read_after(_Atomic uint64_t *value)
{
	return atomic_fetch_add_explicit(value, 0, memory_order_acq_rel);
}

static bool nvidia_is_there(void)
{
	return !access("/dev/nvidiactl", F_OK) || !access("/dev/dxg", F_OK);
}

const char *gpus_why_missing(void)
{
	static enum { UNKNOWN, IS_THERE, IS_MISSING } state;

	if (state == UNKNOWN)
		state = nvidia_is_there() || drm_is_there(DEV, SYS) ? IS_THERE : IS_MISSING;
	if (state == IS_THERE)
		return NULL;
	return "no GPU: there is neither /dev/nvidiactl nor a /dev/dri/renderD* of a GPU";
}

/* The kernel's number of the first PID namespace is part of its interface to user space. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

const char *gpus_why_foreign(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PID_NAMESPACE)
		return NULL;
	return "the driver tells the host's PIDs of processes, which cannot be found in a PID "
	       "namespace without BPF";
}

/* Returns false while the other side writes the list. */
static bool pids_copy(struct pass *p)
{
	const uint64_t before = atomic_load_explicit(&p->shared->lists, memory_order_acquire);
	const uint32_t nr = p->shared->nr_pids;

	if (before % 2 || nr > GPU_READER_PIDS)
		return false;
	memcpy(p->copied, p->shared->pids, nr * sizeof(*p->copied));
	if (atomic_read_after(&p->shared->lists) != before)
		return false;
	memcpy(p->pids, p->copied, nr * sizeof(*p->pids));
	p->nr_pids = nr;
	return true;
}

/* If the other side is at it for long, the last list holds on. */
static void pids_take(struct pass *p)
{
	for (int i = 0; i < COPY_TRIES && !pids_copy(p); i++)
		;
}

static void library_open(struct pass *p, uint64_t now_ns)
{
	if (p->nvml || !nvidia_is_there() || now_ns < p->try_ns)
		return;
	p->try_ns = now_ns + TRY_AGAIN_NS;
	p->why[0] = '\0';
	if (nvml_open(&p->nvml, p->why, sizeof(p->why)))
		p->nvml = NULL;
}

static void pass_make(struct pass *p, uint64_t now_ns)
{
	const uint64_t passes = atomic_load_explicit(&p->shared->passes, memory_order_relaxed);
	struct gpu_table *last = &p->shared->tables[passes % 2],
			 *t = &p->shared->tables[(passes + 1) % 2];

	t->nr_devices = t->nr_uses = t->uses_dropped = 0;
	memcpy(t->ended, last->ended, sizeof(t->ended));
	t->nr_ended = last->nr_ended;
	library_open(p, now_ns);
	snprintf(t->why, sizeof(t->why), "%s", p->why);
	if (p->nvml)
		nvml_pass(p->nvml, t, now_ns);
	pids_take(p);
	if (p->drm)
		drm_pass(p->drm, t, p->pids, p->nr_pids, now_ns);
	t->pass_ns = now_ns;
	atomic_store_explicit(&p->shared->passes, passes + 1, memory_order_release);
}

/* Reads slow values until the next pass is due. Returns when to look again. */
static uint64_t pass_go_on(struct pass *p, uint64_t until_ns)
{
	uint64_t now_ns, next_ns = until_ns;

	while (p->nvml && (now_ns = clock_ns(CLOCK_MONOTONIC)) < until_ns)
		if (!nvml_step(p->nvml, now_ns, &next_ns))
			break;
	return next_ns < until_ns ? next_ns : until_ns;
}

/* Returns 0, 1 if a pass was asked for, or -EPIPE if the other side is gone. */
static int wait_until(int alive_fd, uint64_t until_ns)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct pollfd p = { .fd = alive_fd, .events = POLLIN };
	int wait_ms = until_ns > now_ns ? (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1 : 0;
	char asked[64];

	if (poll(&p, 1, wait_ms) <= 0)
		return 0;
	return read(alive_fd, asked, sizeof(asked)) > 0 ? 1 : -EPIPE;
}

static _Noreturn void gpu_reader_run(struct shared *shared, int alive_fd, uint64_t interval_ns)
{
	static struct pass p;
	uint64_t due_ns = clock_ns(CLOCK_MONOTONIC), next_ns;
	int asked;

	p.shared = shared;
	drm_open(&p.drm, "/proc", DEV, SYS);
	for (;;) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= due_ns) {
			pass_make(&p, now_ns);
			due_ns += interval_ns * ((now_ns - due_ns) / interval_ns + 1);
		}
		next_ns = pass_go_on(&p, due_ns);
		asked = wait_until(alive_fd, next_ns);
		if (asked < 0)
			_exit(0);
		if (asked &&
		    now_ns + ASKED_NS < due_ns) /* what has ended needs a moment to be gone */
			due_ns = clock_ns(CLOCK_MONOTONIC) + ASKED_NS;
	}
}

/* Of the other descriptors and signals of the process that it was, the reader needs none. */
static void gpu_reader_become(int *alive_fd)
{
	static const int ignored[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2
	};
	/* for /proc/PID/fd and fdinfo of other users */
	const uint64_t rights =
		drm_is_there(DEV, SYS) ? 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH : 0;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC); /* what a library prints is lost */
	sigset_t none;

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	*alive_fd = dup2(*alive_fd, 3);
	syscall(SYS_close_range, 4U, ~0U, 0);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_NAME, "bpfmon-gpu");
	privilege_bound(0);
	privilege_keep(rights);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the library spin, and never look at the pipe */
}

static int gpu_reader_fork(struct gpu_reader *r)
{
	int alive[2];

	if (pipe2(alive, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	r->pid = fork();
	if (!r->pid) {
		close(alive[1]);
		gpu_reader_become(&alive[0]);
		gpu_reader_run(r->shared, alive[0], r->interval_ns);
	}
	close(alive[0]);
	r->alive_fd = alive[1];
	return r->pid < 0 ? -errno : 0;
}

int gpu_reader_start(struct gpu_reader **reader, uint64_t interval_ns)
{
	struct gpu_reader *r = memory_calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->alive_fd = -1;
	r->interval_ns = interval_ns < PASS_LEAST_NS  ? PASS_LEAST_NS
			 : interval_ns > PASS_MOST_NS ? PASS_MOST_NS
						      : interval_ns;
	r->shared = mmap(NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	err = r->shared == MAP_FAILED ? -errno : gpu_reader_fork(r);
	if (r->shared == MAP_FAILED)
		r->shared = NULL;
	if (err)
		gpu_reader_leave(r);
	else
		*reader = r;
	return err;
}

/* The tables are untrusted: the library that fills them is foreign. */
static void table_bound(struct gpu_table *t)
{
	if (t->nr_devices > MAX_GPUS)
		t->nr_devices = MAX_GPUS;
	if (t->nr_uses > MAX_GPU_USES)
		t->nr_uses = MAX_GPU_USES;
	t->why[sizeof(t->why) - 1] = '\0';
	text_disarm(t->why);
	for (size_t i = 0; i < t->nr_devices; i++) {
		struct gpu_device *d = &t->devices[i];

		d->name[sizeof(d->name) - 1] = '\0';
		d->model[sizeof(d->model) - 1] = '\0';
		d->driver[sizeof(d->driver) - 1] = '\0';
		text_disarm(d->name);
		text_disarm(d->model);
		text_disarm(d->driver);
	}
}

/*
 * While one table is copied the reader may fill the other. It would reach this one only at the pass
 * after that, which is told by the number.
 */
bool gpu_reader_take(struct gpu_reader *r, struct gpu_table *table)
{
	const uint64_t passes = atomic_load_explicit(&r->shared->passes, memory_order_acquire);

	if (passes == r->taken)
		return false;
	memcpy(table, &r->shared->tables[passes % 2], sizeof(*table));
	if (atomic_read_after(&r->shared->passes) != passes)
		return false; /* the next drain takes the next one */
	r->taken = passes;
	table_bound(table);
	return true;
}

void gpu_reader_set_pids(struct gpu_reader *r, const uint32_t *pids, size_t nr)
{
	struct shared *s = r->shared;

	atomic_fetch_add_explicit(&s->lists, 1, memory_order_acq_rel);
	s->nr_pids = nr < GPU_READER_PIDS ? (uint32_t)nr : GPU_READER_PIDS;
	memcpy(s->pids, pids, s->nr_pids * sizeof(*pids));
	atomic_fetch_add_explicit(&s->lists, 1, memory_order_release);
}

bool gpu_reader_is_gone(const struct gpu_reader *r)
{
	struct pollfd p = { .fd = r->alive_fd };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* A full pipe has been asked already. */
void gpu_reader_ask(struct gpu_reader *r)
{
	if (write(r->alive_fd, "", 1) < 0)
		return;
}

pid_t gpu_reader_pid(const struct gpu_reader *r)
{
	return r->pid;
}

void gpu_reader_leave(struct gpu_reader *r)
{
	if (!r)
		return;
	if (r->alive_fd >= 0)
		close(r->alive_fd);
	if (r->shared)
		munmap(r->shared, sizeof(*r->shared));
	free(r);
}
