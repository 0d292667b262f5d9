// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocates MIB MiB of the first NVIDIA GPU, lets it work for BUSY_MS milliseconds, and holds the
 * memory until WHOLE_MS have passed. Appends what it knows to FILE: first
 * {"pid":P,"mib":M,"ready":EPOCH} when it has the memory, and {"busy_seconds":S} after the work.
 *
 * It needs the driver (libcuda.so.1), but no CUDA toolkit: what it calls is declared here, and the
 * kernel is text that the driver compiles.
 *
 * Usage: gpuload MIB BUSY_MS WHOLE_MS FILE
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAILED 99
#define SLICE_NS 100000000ULL /* of one launch: a GPU with a screen ends one of seconds */
#define THREADS 256
#define ATTRIBUTE_MULTIPROCESSORS 16
#define SCHEDULE_BLOCKING_SYNC 4 /* the CPU sleeps while the GPU works */

/* What of the driver's interface is used; each returns 0 or an error number. */
static struct {
	int (*init)(unsigned flags);
	int (*get_device)(int *device, int nth);
	int (*get_attribute)(int *value, int attribute, int device);
	int (*create_context)(void **context, unsigned flags, int device);
	int (*allocate)(uint64_t *address, size_t bytes);
	int (*load_module)(void **module, const void *image);
	int (*get_function)(void **function, void *module, const char *name);
	int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
		      void *stream, void **arguments, void **extra);
	int (*synchronize)(void);
} cuda;

static const struct {
	const char *name;
	void *function; /* pointer to a member of cuda */
} symbols[] = {
	{ "cuInit", &cuda.init },
	{ "cuDeviceGet", &cuda.get_device },
	{ "cuDeviceGetAttribute", &cuda.get_attribute },
	{ "cuCtxCreate_v2", &cuda.create_context },
	{ "cuMemAlloc_v2", &cuda.allocate },
	{ "cuModuleLoadData", &cuda.load_module },
	{ "cuModuleGetFunction", &cuda.get_function },
	{ "cuLaunchKernel", &cuda.launch },
	{ "cuCtxSynchronize", &cuda.synchronize },
};

/* A driver takes those of its own generations: the first that it does is used. */
static const char *const targets[] = {
	".version 6.0\n.target sm_70\n",
	".version 7.8\n.target sm_90\n",
	".version 8.7\n.target sm_120\n",
	".version 5.0\n.target sm_50\n",
};

static const char spin_text[] = ".address_size 64\n"
				".visible .entry spin(.param .u64 spin_ns)\n"
				"{\n"
				"	.reg .pred %p<2>;\n"
				"	.reg .b64 %rd<4>;\n"
				"	ld.param.u64 %rd1, [spin_ns];\n"
				"	mov.u64 %rd2, %globaltimer;\n"
				"	add.s64 %rd1, %rd1, %rd2;\n"
				"again:\n"
				"	mov.u64 %rd3, %globaltimer;\n"
				"	setp.lt.u64 %p1, %rd3, %rd1;\n"
				"	@%p1 bra again;\n"
				"	ret;\n"
				"}\n";

__attribute__((noreturn, format(printf, 1, 2))) static void load_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("gpuload: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(FAILED);
}

static void load_check(const char *what, int err)
{
	if (err)
		load_fail("%s: CUDA error %d", what, err);
}

static uint64_t load_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Appends one line by one call: a reader sees all of it or none. */
__attribute__((format(printf, 2, 3))) static void load_log(const char *path, const char *fmt, ...)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), n;
	char line[160];
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		load_fail("cannot write %s", path);
	close(fd);
}

static uint64_t load_number(const char *text)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (*end || end == text || v > UINT32_MAX)
		load_fail("%s is no number", text);
	return v;
}

/* Returns the device, as current of this thread. */
static int device_open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
	int device;

	if (!library)
		load_fail("%s", dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *function = dlsym(library, symbols[i].name);

		if (!function)
			load_fail("%s", dlerror());
		memcpy(symbols[i].function, &function, sizeof(function));
	}
	load_check("cuInit", cuda.init(0));
	load_check("cuDeviceGet", cuda.get_device(&device, 0));
	load_check("cuCtxCreate", cuda.create_context(&context, SCHEDULE_BLOCKING_SYNC, device));
	return device;
}

static void *kernel_load(void)
{
	void *module = NULL, *function;
	char image[1024];
	int err = -1;

	for (size_t i = 0; err && i < sizeof(targets) / sizeof(*targets); i++) {
		snprintf(image, sizeof(image), "%s%s", targets[i], spin_text);
		err = cuda.load_module(&module, image);
	}
	load_check("cuModuleLoadData", err);
	load_check("cuModuleGetFunction", cuda.get_function(&function, module, "spin"));
	return function;
}

/* Works on all multiprocessors for @busy_ns. Returns the time from launches to their ends. */
static uint64_t device_spin(int device, void *spin, uint64_t busy_ns)
{
	uint64_t done_ns = 0;
	int processors;

	load_check("cuDeviceGetAttribute",
		   cuda.get_attribute(&processors, ATTRIBUTE_MULTIPROCESSORS, device));
	while (done_ns < busy_ns) {
		uint64_t begin_ns = load_clock_ns(CLOCK_MONOTONIC), left_ns = busy_ns - done_ns;
		uint64_t slice_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;
		void *arguments[] = { &slice_ns };

		load_check("cuLaunchKernel", cuda.launch(spin, (unsigned)processors, 1, 1, THREADS,
							 1, 1, 0, NULL, arguments, NULL));
		load_check("cuCtxSynchronize", cuda.synchronize());
		done_ns += load_clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	return done_ns;
}

int main(int argc, char **argv)
{
	uint64_t mib, busy_ns, whole_ns, begin_ns, passed_ns, address;
	void *spin;
	int device;

	if (argc != 5) {
		fprintf(stderr, "usage: gpuload MIB BUSY_MS WHOLE_MS FILE\n");
		return 2;
	}
	mib = load_number(argv[1]);
	busy_ns = load_number(argv[2]) * 1000000;
	whole_ns = load_number(argv[3]) * 1000000;
	device = device_open();
	spin = busy_ns ? kernel_load() : NULL;
	load_check("cuMemAlloc", cuda.allocate(&address, (size_t)mib << 20));
	begin_ns = load_clock_ns(CLOCK_MONOTONIC);
	load_log(argv[4], "{\"pid\":%d,\"mib\":%llu,\"ready\":%.3f}\n", (int)getpid(),
		 (unsigned long long)mib, (double)load_clock_ns(CLOCK_REALTIME) / 1e9);
	if (busy_ns)
		load_log(argv[4], "{\"busy_seconds\":%.6f}\n",
			 (double)device_spin(device, spin, busy_ns) / 1e9);
	passed_ns = load_clock_ns(CLOCK_MONOTONIC) - begin_ns;
	if (passed_ns < whole_ns)
		usleep((useconds_t)((whole_ns - passed_ns) / 1000));
	return 0;
}
