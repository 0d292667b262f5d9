// SPDX-License-Identifier: BSD-2-Clause
#include "measure/drm.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "measure/drm_count.h"
#include "measure/drm_device.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN_NS (5 * NSEC_PER_SEC)
#define LISTED_PER_PROCESS 16384 /* descriptors that a scan looks at */
#define KEPT_PER_PROCESS 256     /* descriptors of devices */
#define KEPT 8192                /* the same, of all processes */
#define TEXT_BYTES 8192          /* fdinfo of xe has 2 KiB */
#define SLACK_NS NSEC_PER_SEC    /* a pass may take this long after its time */

#define MAJOR_DRM 226
#define MAJOR_NVIDIA 195
#define NVIDIA_DEVICES 254 /* minor numbers from here on are no devices */
#define CONTROL_FIRST 64   /* minor numbers of nodes that no longer exist */
#define RENDER_FIRST 128
#define KEY_NVIDIA MAX_GPUS /* and the minor number: a device of another source */

struct drm_descriptor {
	int fd;
	uint32_t major, minor;
	bool is_silent;  /* its driver writes nothing */
	bool has_client; /* the following are known */
	uint32_t device;
	uint64_t id;
};

/* Use of a device by a process, with the counters of clients that are closed. */
struct drm_use {
	uint32_t key; /* index in the devices, or KEY_NVIDIA + the minor number */
	uint32_t has;
	uint64_t pass; /* the last with a client */
	uint64_t memory_bytes, busy_ns, busy_at_ns, seen_ns;
};

struct drm_process {
	uint32_t pid;
	bool is_denied, is_scanned; /* the last scan saw all */
	uint64_t start_boot_ns;
	uint64_t scanned_ns, due_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t lacked_ns; /* when it had no client that is new at this scan; 0: unknown */
	uint32_t nr, nr_uses;
	struct drm_descriptor *descriptors; /* owned */
	struct drm_use *uses;               /* owned */
};

struct drm {
	const char *proc;
	int (*read)(int dir, const char *name, uint32_t *major, uint32_t *minor);
	uint64_t opened_boot_ns, pass, listed_ns;
	struct drm_devices devices;
	struct drm_process *processes; /* owned; by PID */
	size_t nr_processes, nr_kept;
	struct drm_counts counts;
};

/* What the steps of one pass share. */
struct pass_state {
	struct drm *d;
	struct gpu_table *t;
	uint64_t now_ns, boot_offset_ns; /* CLOCK_BOOTTIME is later by this */
	bool is_denied;                  /* some process may not be looked at */
};

int drm_descriptor_read(int dir, const char *name, uint32_t *major, uint32_t *minor)
{
	struct statx s;

	/* without AT_STATX_DONT_SYNC, a file of a server that is away could make this wait */
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE, &s))
		return -errno;
	if (!S_ISCHR(s.stx_mode))
		return -ENODEV;
	*major = s.stx_rdev_major;
	*minor = s.stx_rdev_minor;
	return 0;
}

void drm_set_descriptor_read(struct drm *d, int (*read)(int dir, const char *name, uint32_t *major,
							uint32_t *minor))
{
	d->read = read;
}

int drm_open(struct drm **out, const char *proc, const char *dev, const char *sys)
{
	struct drm *d = memory_calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->proc = proc;
	d->read = drm_descriptor_read;
	d->devices.dev = dev;
	d->devices.sys = sys;
	d->opened_boot_ns = clock_ns(CLOCK_BOOTTIME);
	*out = d;
	return 0;
}

static bool drm_devices_are_listed(const struct drm_devices *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->device[i].is_listed && !l->device[i].is_ignored)
			return true;
	return false;
}

bool drm_is_there(const char *dev, const char *sys)
{
	struct drm_devices *l = memory_calloc(1, sizeof(*l));
	bool is_there;

	if (!l)
		return false;
	*l = (struct drm_devices){ .dev = dev, .sys = sys };
	drm_devices_list(l);
	is_there = drm_devices_are_listed(l);
	free(l);
	return is_there;
}

/* Where NVIDIA's driver tells the processes, only devices of DRM are looked for, if there are any.
 */
static bool descriptors_are_needed(const struct drm *d, const struct gpu_table *t)
{
	for (uint32_t i = 0; i < t->nr_devices; i++)
		if (!strcmp(t->devices[i].driver, "nvidia") && t->devices[i].has & GPU_USES)
			return drm_devices_are_listed(&d->devices);
	return true;
}

static void process_drop_descriptors(struct drm *d, struct drm_process *p)
{
	d->nr_kept -= p->nr;
	free(p->descriptors);
	p->descriptors = NULL;
	p->nr = 0;
}

static void process_drop(struct drm *d, struct drm_process *p)
{
	uint32_t pid = p->pid;

	process_drop_descriptors(d, p);
	free(p->uses);
	memset(p, 0, sizeof(*p));
	p->pid = pid;
}

void drm_close(struct drm *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_processes; i++)
		process_drop(d, &d->processes[i]);
	free(d->processes);
	drm_counts_done(&d->counts);
	free(d);
}

static int pid_compare(const void *a, const void *b)
{
	const struct drm_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Makes the processes those of @pids, in order, and keeps what is known of them. */
static int drm_set_processes(struct drm *d, const uint32_t *pids, size_t nr)
{
	struct drm_process *next = memory_calloc(nr ? nr : 1, sizeof(*next));
	size_t used = 0, old = 0;

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		next[i].pid = pids[i];
	qsort(next, nr, sizeof(*next), pid_compare);
	for (size_t i = 0; i < nr; i++) {
		if (used && next[used - 1].pid == next[i].pid)
			continue;
		while (old < d->nr_processes && d->processes[old].pid < next[i].pid)
			process_drop(d, &d->processes[old++]);
		if (old < d->nr_processes && d->processes[old].pid == next[i].pid)
			next[used++] = d->processes[old++];
		else
			next[used++] = (struct drm_process){ .pid = next[i].pid };
	}
	while (old < d->nr_processes)
		process_drop(d, &d->processes[old++]);
	free(d->processes);
	d->processes = next;
	d->nr_processes = used;
	return 0;
}

/* Reads a file of a process, up to the last whole line. Returns a negative errno on failure. */
static int process_file_read(const struct drm *d, uint32_t pid, const char *name, char *text)
{
	char path[PATH_MAX];
	__cleanup(closep) int fd = -1;
	ssize_t n, used = 0;

	snprintf(path, sizeof(path), "%s/%u/%s", d->proc, pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + used, (size_t)(TEXT_BYTES - 1 - used))) > 0)
		used += n;
	if (n < 0)
		return -errno;
	text[used] = '\0';
	if (used == TEXT_BYTES - 1 && strrchr(text, '\n'))
		*strrchr(text, '\n') = '\0';
	return 0;
}

/*
 * Notes that the process is another one if its PID was reused. Returns false if it is gone. One
 * that waits to be reaped has nothing open, and is root's.
 */
static bool process_identify(struct pass_state *s, struct drm_process *p)
{
	char text[TEXT_BYTES];
	struct proc_stat stat;

	if (process_file_read(s->d, p->pid, "stat", text) || proc_stat_parse(text, &stat) ||
	    stat.state == 'Z' || stat.state == 'X')
		return false;
	if (p->scanned_ns && p->start_boot_ns != stat.start_ns)
		process_drop(s->d, p);
	p->start_boot_ns = stat.start_ns;
	return true;
}

static bool device_is_of_interest(uint32_t major, uint32_t minor)
{
	return major == MAJOR_DRM ? minor < CONTROL_FIRST || minor >= RENDER_FIRST
				  : major == MAJOR_NVIDIA && minor < NVIDIA_DEVICES;
}

static bool descriptor_add(struct pass_state *s, struct drm_process *p,
			   const struct drm_descriptor *added)
{
	struct drm_descriptor *more;

	if (p->nr == KEPT_PER_PROCESS || s->d->nr_kept == KEPT)
		return false;
	more = memory_reallocarray(p->descriptors, p->nr + 1, sizeof(*more));
	if (!more)
		return false;
	p->descriptors = more;
	p->descriptors[p->nr++] = *added;
	s->d->nr_kept++;
	return true;
}

/* Looks at one entry of /proc/PID/fd. Returns false if no more is to be looked at. */
static bool descriptor_scan(struct pass_state *s, struct drm_process *p, int dir, const char *name)
{
	struct drm_descriptor found = { .fd = -1 };
	int err;

	if (!isdigit((unsigned char)*name))
		return true;
	found.fd = (int)strtol(name, NULL, 10);
	err = s->d->read(dir, name, &found.major, &found.minor);
	p->is_denied |= err == -EACCES || err == -EPERM;
	if (err || !device_is_of_interest(found.major, found.minor))
		return !p->is_denied;
	if (descriptor_add(s, p, &found))
		return true;
	s->t->uses_dropped++;
	return false;
}

/* Looks for descriptors of devices. Returns false if it did not see all. */
static bool process_scan_folder(struct pass_state *s, struct drm_process *p)
{
	char path[PATH_MAX];
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *e;
	unsigned listed = 0;

	snprintf(path, sizeof(path), "%s/%u/fd", s->d->proc, p->pid);
	dir = memory_opendir(path);
	p->is_denied = !dir && (errno == EACCES || errno == EPERM);
	while (dir && (e = readdir(dir)))
		if (listed++ == LISTED_PER_PROCESS || !descriptor_scan(s, p, dirfd(dir), e->d_name))
			return false;
	return dir;
}

/* Scans that were due at the same time, as after the start, are spread afterwards. */
static void process_scan(struct pass_state *s, struct drm_process *p)
{
	uint64_t spread_ns = p->scanned_ns ? 0 : p->pid * 7919ULL % 5000 * NSEC_PER_MSEC;

	process_drop_descriptors(s->d, p);
	p->lacked_ns = p->is_scanned ? p->scanned_ns : 0;
	if (!p->lacked_ns && p->start_boot_ns >= s->d->opened_boot_ns)
		p->lacked_ns = p->start_boot_ns - s->boot_offset_ns;
	p->scanned_ns = s->now_ns;
	p->due_ns = s->now_ns + SCAN_NS + spread_ns;
	p->is_scanned = process_scan_folder(s, p);
}

/* Returns true if the process can have used all of this since it lacked the client. */
static bool client_is_possible(const struct pass_state *s, const struct drm_process *p,
			       const struct drm_client *c)
{
	uint64_t most_ns = (s->now_ns > p->lacked_ns ? s->now_ns - p->lacked_ns : 0) + SLACK_NS;

	if (!p->lacked_ns)
		return false;
	for (uint32_t i = 0; i < c->nr_engines; i++)
		if (c->engines[i].ns / c->engines[i].capacity > most_ns)
			return false;
	return true;
}

/* Finds or adds the use of a device; notes that it is open now. NULL if out of memory. */
static struct drm_use *process_use(struct pass_state *s, struct drm_process *p, uint32_t key)
{
	struct drm_use *u = NULL, *more;

	for (uint32_t i = 0; i < p->nr_uses && !u; i++)
		if (p->uses[i].key == key)
			u = &p->uses[i];
	if (!u) {
		more = memory_reallocarray(p->uses, p->nr_uses + 1, sizeof(*more));
		if (!more) {
			s->t->uses_dropped++;
			return NULL;
		}
		p->uses = more;
		u = &p->uses[p->nr_uses++];
		*u = (struct drm_use){ .key = key, .seen_ns = s->now_ns };
	}
	if (u->pass != s->d->pass) {
		u->pass = s->d->pass;
		u->has &= ~(uint32_t)GPU_MEMORY;
		u->memory_bytes = 0;
	}
	if (key < KEY_NVIDIA)
		s->d->devices.device[key].used_pass = s->d->pass;
	return u;
}

static void client_count(struct pass_state *s, struct drm_process *p, struct drm_count *c,
			 uint64_t busy_ns)
{
	struct drm_use *u = process_use(s, p, c->device);

	c->pass = s->d->pass;
	if (!u)
		return;
	u->has |= (c->has_busy ? GPU_BUSY : 0) | (c->has_memory ? GPU_MEMORY : 0);
	u->memory_bytes += c->memory_bytes;
	u->busy_ns += busy_ns;
	if (busy_ns)
		u->busy_at_ns = s->now_ns;
}

static void client_take(struct pass_state *s, struct drm_process *p, struct drm_descriptor *f,
			const struct drm_client *c)
{
	struct drm_device *device =
		drm_device_of_client(&s->d->devices, c->pdev, c->driver, f->minor);
	struct drm_count *state;
	uint32_t index;
	uint64_t id;
	bool was_known;

	f->is_silent = !device || device->is_ignored;
	if (f->is_silent)
		return;
	index = (uint32_t)(device - s->d->devices.device);
	/* without an identity, all descriptors of a process count as one client */
	id = c->has_id ? c->id : UINT64_MAX - p->pid;
	was_known = f->has_client && f->device == index && f->id == id;
	f->has_client = true;
	f->device = index;
	f->id = id;
	state = drm_count_find(&s->d->counts, f->device, f->id);
	if (state && state->pass == s->d->pass)
		return;
	if (!state) {
		state = drm_count_add(&s->d->counts, f->device, f->id);
		if (!state) {
			s->t->uses_dropped++;
			return;
		}
		if (was_known || !client_is_possible(s, p, c))
			drm_count_begin(state, c);
	}
	client_count(s, p, state, drm_count_advance(state, c, s->now_ns));
}

/* Returns true if the client of a descriptor need not be read at this pass. */
static bool descriptor_is_known(struct pass_state *s, struct drm_process *p,
				const struct drm_descriptor *f)
{
	struct drm_count *c =
		f->has_client ? drm_count_find(&s->d->counts, f->device, f->id) : NULL;

	if (!c)
		return false;
	if (c->pass == s->d->pass)
		return true;
	if (!s->d->devices.device[c->device].is_suspended)
		return false;
	drm_count_pause(c); /* reading would wake the device, which did nothing */
	client_count(s, p, c, 0);
	return true;
}

/* The device is in use, and nothing else is known. */
static void descriptor_take_silent(struct pass_state *s, struct drm_process *p,
				   const struct drm_descriptor *f)
{
	const struct drm_device *device;

	if (f->major == MAJOR_NVIDIA) {
		process_use(s, p, KEY_NVIDIA + f->minor);
		return;
	}
	device = drm_device_find(&s->d->devices, f->minor);
	if (device && !device->is_ignored)
		process_use(s, p, (uint32_t)(device - s->d->devices.device));
}

static void descriptor_read_client(struct pass_state *s, struct drm_process *p,
				   struct drm_descriptor *f)
{
	char text[TEXT_BYTES], name[32];
	struct drm_client c;
	int err;

	if (f->major == MAJOR_NVIDIA || f->is_silent) {
		descriptor_take_silent(s, p, f);
		return;
	}
	if (descriptor_is_known(s, p, f))
		return;
	snprintf(name, sizeof(name), "fdinfo/%d", f->fd);
	err = process_file_read(s->d, p->pid, name, text);
	p->is_denied |= err == -EACCES || err == -EPERM;
	if (err)
		return;
	err = drm_client_parse(&c, text);
	if (!err)
		client_take(s, p, f, &c);
	else if (!f->has_client) /* else it has been closed, and the number reused */
		f->is_silent = true;
	if (f->is_silent)
		descriptor_take_silent(s, p, f);
}

static void process_read_clients(struct pass_state *s, struct drm_process *p)
{
	bool is_due = p->due_ns <= s->now_ns;

	if ((is_due || p->nr || p->nr_uses) && !process_identify(s, p)) {
		process_drop_descriptors(s->d, p);
		return;
	}
	if (!p->scanned_ns || is_due)
		process_scan(s, p);
	for (uint32_t i = 0; i < p->nr; i++)
		descriptor_read_client(s, p, &p->descriptors[i]);
	s->is_denied |= p->is_denied;
}

static void devices_append(struct pass_state *s)
{
	struct gpu_table *t = s->t;

	for (size_t i = 0; i < s->d->devices.nr; i++) {
		struct drm_device *device = &s->d->devices.device[i];
		struct gpu_device *out;

		device->index = MAX_GPUS;
		if (device->is_ignored || (!device->is_listed && device->used_pass != s->d->pass) ||
		    t->nr_devices == MAX_GPUS)
			continue;
		device->index = t->nr_devices++;
		out = &t->devices[device->index];
		*out = (struct gpu_device){ 0 };
		drm_device_read(device, out);
		if (!s->is_denied)
			out->has |= GPU_USES;
	}
}

/*
 * Finds the device of a use in the table; MAX_GPUS if it is not there. Where NVIDIA's driver tells
 * the processes that use devices, an open descriptor says nothing more: programs open the devices
 * that they find, and monitors all.
 */
static uint32_t use_device(const struct pass_state *s, uint32_t key)
{
	const struct gpu_table *t = s->t;
	uint32_t found = MAX_GPUS;

	if (key < KEY_NVIDIA)
		return s->d->devices.device[key].index;
	for (uint32_t i = 0; i < t->nr_devices; i++) {
		if (strcmp(t->devices[i].driver, "nvidia") != 0)
			continue;
		if (t->devices[i].has & GPU_USES)
			return MAX_GPUS;
		if (found == MAX_GPUS && t->devices[i].minor == (int)(key - KEY_NVIDIA))
			found = i;
	}
	return found;
}

static void uses_append(struct pass_state *s, const struct drm_process *p)
{
	for (uint32_t i = 0; i < p->nr_uses; i++) {
		const struct drm_use *u = &p->uses[i];
		struct gpu_use *out;
		uint32_t device;

		if (u->pass != s->d->pass)
			continue;
		device = use_device(s, u->key);
		if (device == MAX_GPUS && u->key < KEY_NVIDIA)
			s->t->uses_dropped++;
		out = device < MAX_GPUS ? gpu_table_add_use(s->t) : NULL;
		if (!out)
			continue;
		*out = (struct gpu_use){ .pid = p->pid,
					 .device = device,
					 .has = u->has,
					 .memory_bytes = u->memory_bytes,
					 .busy_ns = u->busy_ns,
					 .busy_at_ns = u->busy_at_ns,
					 .seen_ns = u->seen_ns };
	}
}

void drm_pass(struct drm *d, struct gpu_table *t, const uint32_t *pids, size_t nr, uint64_t now_ns)
{
	struct pass_state s = { .d = d, .t = t, .now_ns = now_ns };

	s.boot_offset_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	d->pass++;
	if (!d->listed_ns || now_ns >= d->listed_ns + SCAN_NS) {
		drm_devices_list(&d->devices);
		d->listed_ns = now_ns;
	}
	for (size_t i = 0; i < d->devices.nr; i++)
		drm_device_check(&d->devices.device[i]);
	/* without memory, the processes of the last pass */
	drm_set_processes(d, pids, descriptors_are_needed(d, t) ? nr : 0);
	for (size_t i = 0; i < d->nr_processes; i++)
		process_read_clients(&s, &d->processes[i]);
	drm_counts_drop_closed(&d->counts, d->pass);
	devices_append(&s);
	for (size_t i = 0; i < d->nr_processes; i++)
		uses_append(&s, &d->processes[i]);
	if (s.is_denied && !*t->why)
		snprintf(t->why, sizeof(t->why),
			 "needs CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE to see the open devices of "
			 "other users' processes");
}
