// SPDX-License-Identifier: BSD-2-Clause
/*
 * fdinfo of DRM clients: the parser, and two passes over a made /proc. The input up to its first
 * NUL is what the first pass finds, the rest is for the second.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "measure/drm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define FDINFO "drm-proc/50/fdinfo/3"

static int every_descriptor_renders(int dir, const char *name, uint32_t *major, uint32_t *minor)
{
	(void)dir;
	(void)name;
	*major = 226;
	*minor = 128;
	return 0;
}

static void fdinfo_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t n = strlen(text);

	FUZZ_HOLDS(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
}

static void proc_make(void)
{
	static bool is_made;

	if (is_made)
		return;
	mkdir("drm-proc", 0700);
	mkdir("drm-proc/50", 0700);
	mkdir("drm-proc/50/fd", 0700);
	mkdir("drm-proc/50/fdinfo", 0700);
	fdinfo_write("drm-proc/50/fd/3", "");
	fdinfo_write("drm-proc/50/stat",
		     "50 (a) S 1 1 1 0 -1 0 1 0 0 0 1 2 0 0 20 0 1 0 1 1000 2 3\n");
	is_made = true;
}

static void client_holds(const char *text)
{
	struct drm_client c;
	int err = drm_client_parse(&c, text);

	FUZZ_HOLDS(!err || err == -ENOENT || err == -EINVAL);
	if (err)
		return;
	FUZZ_HOLDS(*c.driver && memchr(c.driver, '\0', sizeof(c.driver)));
	FUZZ_HOLDS(memchr(c.pdev, '\0', sizeof(c.pdev)));
	fuzz_is_inert(c.driver, strlen(c.driver));
	fuzz_is_inert(c.pdev, strlen(c.pdev));
	FUZZ_HOLDS(c.nr_engines <= DRM_ENGINES);
	for (uint32_t i = 0; i < c.nr_engines; i++) {
		FUZZ_HOLDS(memchr(c.engines[i].name, '\0', sizeof(c.engines[i].name)));
		FUZZ_HOLDS(c.engines[i].capacity);
		FUZZ_HOLDS(!c.engines[i].has_cycles || c.engines[i].clock_cycles);
	}
	FUZZ_HOLDS(c.has_memory || !c.memory_bytes);
}

/* Returns the counter of the process, which has up to one use of each device. */
static uint64_t pass_holds(struct drm *d, struct gpu_table *t, const char *text, uint64_t now_ns)
{
	const uint32_t pid = 50;

	*t = (struct gpu_table){ 0 };
	fdinfo_write(FDINFO, text);
	drm_pass(d, t, &pid, 1, now_ns);
	FUZZ_HOLDS(t->nr_devices <= 1 && t->nr_uses <= 1 && !t->uses_dropped);
	if (!t->nr_uses)
		return 0;
	FUZZ_HOLDS(t->uses[0].pid == pid && t->uses[0].device == 0);
	fuzz_is_inert(t->devices[0].name, strlen(t->devices[0].name));
	return t->uses[0].busy_ns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_table table;
	char *text = fuzz_text(data, size);
	const char *second = text + strnlen(text, size);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), busy_ns;
	struct drm *d = NULL;

	second += second < text + size;
	proc_make();
	client_holds(text);
	client_holds(second);
	FUZZ_HOLDS(!drm_open(&d, "drm-proc", "drm-proc", "drm-proc"));
	drm_set_descriptor_read(d, every_descriptor_renders);
	busy_ns = pass_holds(d, &table, text, now_ns);
	FUZZ_HOLDS(!busy_ns); /* the process is older */
	pass_holds(d, &table, second, now_ns + NSEC_PER_SEC);
	busy_ns = pass_holds(d, &table, text, now_ns + 2 * NSEC_PER_SEC);
	if (table.nr_uses)
		FUZZ_HOLDS(pass_holds(d, &table, text, now_ns + 3 * NSEC_PER_SEC) >= busy_ns);
	drm_close(d);
	free(text);
	return 0;
}
