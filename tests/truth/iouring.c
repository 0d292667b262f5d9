// SPDX-License-Identifier: BSD-2-Clause
/*
 * N reads and writes of 64 KiB on one unlinked temporary file, all by io_uring with IOSQE_ASYNC, so
 * that kernel workers (threads of this process, named iou-wrk-*) do the copying: the first 16
 * write, then every 8th writes and the others read from the cache. Ends with 77 where io_uring may
 * not be used. The file is in DIR, or in $TMPDIR, or in /tmp.
 * Usage: iouring N [DIR]
 */
#include "truth.h"
#include <dirent.h>
#include <linux/io_uring.h>

#define DEPTH 16
#define BLOCK 65536

static struct io_uring_params params;
static struct io_uring_sqe *sqes;
static char *sq, *cq;
static int ring;

static void *ring_map(size_t size, off_t what)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (p == MAP_FAILED)
		truth_fail("mmap of the ring");
	return p;
}

static unsigned int *ring_word(char *base, unsigned int offset)
{
	return (unsigned int *)(base + offset);
}

/* Puts operation i on block i % DEPTH into slot `slot`; one of the ring's buffers for each. */
static void ring_put(unsigned int slot, long i, int fd, char *buffers)
{
	struct io_uring_sqe *sqe = &sqes[slot];
	unsigned int tail = *ring_word(sq, params.sq_off.tail);

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = i < DEPTH || i % 8 == 0 ? IORING_OP_WRITE : IORING_OP_READ;
	sqe->flags = IOSQE_ASYNC;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)(buffers + slot * BLOCK);
	sqe->len = BLOCK;
	sqe->off = (i % DEPTH) * BLOCK;
	sqe->user_data = sqe->opcode;
	ring_word(sq, params.sq_off.array)[tail & *ring_word(sq, params.sq_off.ring_mask)] = slot;
	__atomic_store_n(ring_word(sq, params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
}

/* Takes all results there are; each has to be a whole block. */
static unsigned int ring_take(long *bytes_read, long *bytes_written)
{
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
	unsigned int head = *ring_word(cq, params.cq_off.head), first = head;
	unsigned int tail = __atomic_load_n(ring_word(cq, params.cq_off.tail), __ATOMIC_ACQUIRE);

	for (; head != tail; head++) {
		struct io_uring_cqe *cqe = &cqes[head & *ring_word(cq, params.cq_off.ring_mask)];

		errno = cqe->res < 0 ? -cqe->res : 0;
		if (cqe->res != BLOCK)
			truth_fail("an operation did %d bytes", cqe->res);
		*(cqe->user_data == IORING_OP_READ ? bytes_read : bytes_written) += BLOCK;
	}
	__atomic_store_n(ring_word(cq, params.cq_off.head), head, __ATOMIC_RELEASE);
	return head - first;
}

/* How many threads there are besides the first: the workers, as nothing else makes threads. */
static long workers_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	long n = -1;

	if (!dir)
		return 0;
	for (struct dirent *d; (d = readdir(dir));)
		n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	const char *dir = argc == 3 ? argv[2] : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	long n, batch, done, bytes_read = 0, bytes_written = 0, most = 0;
	char path[4096], *buffers = memory_map_small(DEPTH * BLOCK);
	int fd;

	if (argc != 2 && argc != 3)
		truth_usage("iouring N [DIR]");
	n = truth_number(argv[1]);
	ring = ring_setup(DEPTH, &params);
	sq = ring_map(params.sq_off.array + params.sq_entries * 4, IORING_OFF_SQ_RING);
	cq = ring_map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	sqes = ring_map(params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	snprintf(path, sizeof(path), "%s/truth-iouring-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0 || unlink(path))
		truth_fail("%s", path);
	for (long i = 0; i < n; i += batch) {
		batch = n - i < DEPTH ? n - i : DEPTH;
		for (long k = 0; k < batch; k++)
			ring_put(k, i + k, fd, buffers);
		if (syscall(SYS_io_uring_enter, ring, batch, batch, IORING_ENTER_GETEVENTS, 0, 0) !=
		    batch)
			truth_fail("io_uring_enter");
		for (done = ring_take(&bytes_read, &bytes_written); done < batch;
		     done += ring_take(&bytes_read, &bytes_written))
			syscall(SYS_io_uring_enter, ring, 0, batch - done, IORING_ENTER_GETEVENTS,
				0, 0);
		if (i < 4 * DEPTH && workers_count() > most)
			most = workers_count();
	}
	truth_write(1, 0, 0,
		    ",\"bytes_read\":%ld,\"bytes_written\":%ld,\"workers_seen\":%ld,"
		    "\"own_thread_seconds\":%.9f",
		    bytes_read, bytes_written, most, clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9);
	return 0;
}
