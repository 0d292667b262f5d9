// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pss_reader.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "base/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct pss_reader {
	int (*read)(pid_t pid, struct smaps *out);
	uint64_t delay_ns;
	int done_fd;
	pthread_t thread;
	pthread_mutex_t lock;  /* protects the following members and the done items */
	pthread_cond_t handed; /* signals a new list or the end */
	struct pss_list list;
	size_t nr_done;
	uint64_t since_ns; /* CLOCK_MONOTONIC, start of the present read; 0: none */
	bool has_thread;
	bool is_left;
	bool is_detached; /* the thread frees the reader */
};

void pss_list_done(struct pss_list *l)
{
	free(l->items);
	*l = (struct pss_list){ 0 };
}

bool pss_list_affords(const struct pss_list *l, const struct pss_item *item)
{
	return item->expected_ns <= l->budget_ns - (item->is_saved_for ? 0 : l->saved_ns);
}

int64_t pss_item_charge(const struct pss_item *item)
{
	int64_t took_ns = (int64_t)item->r.took_ns;

	return item->is_saved_for && took_ns < item->expected_ns ? item->expected_ns : took_ns;
}

void pss_list_charge(struct pss_list *l, const struct pss_item *item)
{
	if (item->is_saved_for)
		l->saved_ns = 0;
	l->budget_ns -= pss_item_charge(item);
}

static void reader_free(struct pss_reader *r)
{
	if (r->done_fd >= 0)
		close(r->done_fd);
	pthread_cond_destroy(&r->handed);
	pthread_mutex_destroy(&r->lock);
	pss_list_done(&r->list);
	free(r);
}

static void item_read(const struct pss_reader *r, struct pss_item *item, uint64_t since_ns)
{
	const struct timespec delay = { (time_t)(r->delay_ns / NSEC_PER_SEC),
					(long)(r->delay_ns % NSEC_PER_SEC) };
	struct smaps found = { 0 };

	if (r->delay_ns)
		nanosleep(&delay, NULL);
	item->err = r->read(item->pid, &found);
	item->is_read = true;
	item->r = (struct pss_reading){ found.pss_bytes, found.uss_bytes,
					clock_ns(CLOCK_MONOTONIC) - since_ns };
}

/* Called with the lock held, which it drops while reading. */
static void reader_advance(struct pss_reader *r)
{
	struct pss_item *item = &r->list.items[r->nr_done];

	if (pss_list_affords(&r->list, item)) {
		r->since_ns = clock_ns(CLOCK_MONOTONIC);
		pthread_mutex_unlock(&r->lock);
		item_read(r, item, r->since_ns);
		pthread_mutex_lock(&r->lock);
		r->since_ns = 0;
		pss_list_charge(&r->list, item);
	}
	if (++r->nr_done == r->list.nr)
		eventfd_write(r->done_fd, 1);
}

static void *reader_run(void *data)
{
	struct pss_reader *r = data;
	bool is_detached;

	pthread_mutex_lock(&r->lock);
	while (!r->is_left) {
		if (r->nr_done < r->list.nr)
			reader_advance(r);
		else
			pthread_cond_wait(&r->handed, &r->lock);
	}
	is_detached = r->is_detached;
	pthread_mutex_unlock(&r->lock);
	if (is_detached)
		reader_free(r);
	return NULL;
}

int pss_reader_make(struct pss_reader **reader, int (*read)(pid_t pid, struct smaps *out),
		    uint64_t delay_ns)
{
	struct pss_reader *r = memory_calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->read = read;
	r->delay_ns = delay_ns;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->handed, NULL);
	r->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->done_fd < 0 ? errno : 0;
	if (err)
		reader_free(r);
	else
		*reader = r;
	return -err;
}

int pss_reader_start(struct pss_reader *r)
{
	int err = r->has_thread ? 0 : stack_start_thread(&r->thread, reader_run, r);

	r->has_thread |= !err;
	return -err;
}

int pss_reader_fd(const struct pss_reader *r)
{
	return r->done_fd;
}

void pss_reader_submit(struct pss_reader *r, const struct pss_list *l)
{
	pthread_mutex_lock(&r->lock);
	pss_list_done(&r->list);
	r->list = *l;
	r->nr_done = 0;
	pthread_cond_signal(&r->handed);
	pthread_mutex_unlock(&r->lock);
}

struct pss_list *pss_reader_results(struct pss_reader *r, size_t *nr_done)
{
	eventfd_t ignored;

	eventfd_read(r->done_fd, &ignored);
	pthread_mutex_lock(&r->lock);
	*nr_done = r->nr_done;
	pthread_mutex_unlock(&r->lock);
	return &r->list;
}

uint64_t pss_reader_busy_ns(struct pss_reader *r)
{
	uint64_t since_ns;

	pthread_mutex_lock(&r->lock);
	since_ns = r->since_ns;
	pthread_mutex_unlock(&r->lock);
	return since_ns ? clock_ns(CLOCK_MONOTONIC) - since_ns : 0;
}

void pss_reader_leave(struct pss_reader *r)
{
	pthread_t thread;
	bool is_busy;

	if (!r)
		return;
	if (!r->has_thread) {
		reader_free(r);
		return;
	}
	pthread_mutex_lock(&r->lock);
	thread = r->thread;
	is_busy = r->is_detached = r->since_ns > 0;
	r->is_left = true;
	pthread_cond_signal(&r->handed);
	pthread_mutex_unlock(&r->lock);
	if (is_busy) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	reader_free(r);
}
