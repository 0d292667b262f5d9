/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a target that passes stores to their readers: in memory, one folder per process. */
#ifndef TESTS_FUZZ_STORE_FILES_H
#define TESTS_FUZZ_STORE_FILES_H

#include "store_readers.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STORE_LINES                                                                                \
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/"                                                  \
	"1\",\"run\":\"00000000-0000-4000-8000-000000000001\","                                    \
	"\"command\":[\"make\"],\"name\":\"a\",\"job\":\"4\",\"user\":\"ada\",\"uid\":7,"          \
	"\"host\":\"n\",\"tags\":{\"k\":\"v\"},\"start_time\":1000,\"interval_seconds\":1}\n"      \
	"{\"kind\":\"sample\",\"elapsed_seconds\":1,\"cpu_seconds\":0.5,\"rss_bytes\":4096}\n"     \
	"{\"kind\":\"process_sample\",\"time\":1001,\"elapsed_seconds\":1,\"pid\":5,"              \
	"\"comm\":\"cc\",\"start_time\":1000.5,\"cpu_seconds\":0.25,\"rss_bytes\":80}\n"           \
	"{\"kind\":\"event\",\"time\":1001.5,\"event\":\"mark\",\"text\":\"a\"}\n"                 \
	"{\"kind\":\"sample\",\"elapsed_seconds\":2,\"cpu_seconds\":2,\"cores\":1.5}\n"            \
	"{\"kind\":\"span\",\"id\":1,\"name\":\"a\",\"tags\":{\"k\":\"v\"},\"pid\":5,"             \
	"\"start_time\":1000.5,\"end_time\":1002,\"complete\":true,\"cpu_seconds\":0.25}\n"        \
	"{\"kind\":\"process\",\"pid\":5,\"ppid\":1,\"comm\":\"cc\",\"exe\":\"/bin/cc\","          \
	"\"args\":[\"cc\",\"-c\"],\"exit_code\":0,\"signal\":null,\"cpu_seconds\":0.25}\n"         \
	"{\"kind\":\"summary\",\"complete\":true,\"losses\":{},\"exit_code\":3,\"signal\":null,"   \
	"\"wall_seconds\":2.5,\"processes_total\":1,\"cpu_seconds\":2,\"rss_peak_bytes\":8192}\n"

struct store_files {
	char hostile[64], into[64]; /* paths */
	uint8_t *empty, *whole;     /* the bytes of two stores; never freed */
	size_t empty_length, whole_length;
};

static inline void store_files_put(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static inline uint8_t *store_files_get(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *data;

	FUZZ_HOLDS(fd >= 0 && !fstat(fd, &st));
	*size = (size_t)st.st_size;
	data = malloc(*size);
	FUZZ_HOLDS(data && read(fd, data, *size) == st.st_size);
	close(fd);
	return data;
}

/* Makes a store with @lines of a run, as one file, and returns its bytes. */
static inline uint8_t *store_files_build(const char *path, const char *lines, size_t *size)
{
	struct store_writer w;

	FUZZ_HOLDS(!store_writer_open(&w, path) && !store_writer_begin(&w));
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
		FUZZ_HOLDS(!store_writer_put(&w, lines, (size_t)(end + 1 - lines)));
	FUZZ_HOLDS(!store_writer_commit(&w, 0));
	FUZZ_HOLDS(!database_run(&w.d, "PRAGMA wal_checkpoint(TRUNCATE)"));
	store_writer_close(&w);
	return store_files_get(path, size);
}

/* Makes the stores, once per process; the files are removed again. */
static inline void store_files_make(struct store_files *f)
{
	char folder[] = "/dev/shm/bpfmon-fuzz-XXXXXX";

	if (f->empty)
		return;
	FUZZ_HOLDS(mkdtemp(folder));
	snprintf(f->hostile, sizeof(f->hostile), "%s/hostile", folder);
	snprintf(f->into, sizeof(f->into), "%s/into", folder);
	f->empty = store_files_build(f->into, "", &f->empty_length);
	readers_remove(f->into);
	f->whole = store_files_build(f->into, STORE_LINES, &f->whole_length);
	readers_remove(f->into);
}

#endif
