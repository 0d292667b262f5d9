// SPDX-License-Identifier: BSD-2-Clause
/* What the collector is sent: the input as a request, with as many descriptors as its first byte
 * says, and as a description. What is read is in its range, and written again it is the same. */
#include "fuzz.h"

#include "run/description.h"
#include "run/request.h"
#include "run/writer.h"

static void check_request(const struct request *r)
{
	int fds[REQUEST_FDS], again_fds[REQUEST_FDS];
	size_t nr = request_fds(r, fds);
	struct jsonw j = { 0 };
	struct request again;
	char why[64];

	FUZZ_HOLDS(r->stream_fd >= 0 && r->interval_ns && nr <= REQUEST_FDS);
	FUZZ_HOLDS(r->nr_pids <= REQUEST_PROCESSES);
	if (r->follow == FOLLOW_NODE || r->follow == FOLLOW_JOB)
		FUZZ_HOLDS(!r->nr_pids && r->cgroup_fd < 0);
	else
		FUZZ_HOLDS(r->follow == FOLLOW_CGROUP ? r->cgroup_fd >= 0 : r->nr_pids > 0);
	FUZZ_HOLDS(!r->job[0] == (r->follow != FOLLOW_JOB));
	request_write(&j, r);
	FUZZ_HOLDS(!j.failed && j.used < REQUEST_BYTES);
	json_decref(fuzz_json(j.text, j.used));
	memcpy(again_fds, fds, sizeof(fds));
	FUZZ_HOLDS(!request_read(&again, j.text, j.used, fds, nr, why, sizeof(why)));
	FUZZ_HOLDS(request_fds(&again, fds) == nr && !memcmp(fds, again_fds, nr * sizeof(*fds)));
	FUZZ_HOLDS(again.follow == r->follow && again.interval_ns == r->interval_ns);
	jsonw_done(&j);
}

static void read_request(const char *text, size_t length, size_t nr_fds)
{
	int fds[REQUEST_FDS];
	struct request r;
	char why[64];

	for (size_t i = 0; i < REQUEST_FDS; i++)
		fds[i] = 1000 + (int)i;
	if (!request_read(&r, text, length, fds, nr_fds, why, sizeof(why)))
		check_request(&r);
	else
		FUZZ_HOLDS(r.stream_fd == -1 && !r.nr_pids && *why && fds[0] == 1000);
}

static void check_description(const struct run *run)
{
	static struct described d;
	static struct run again;
	struct jsonw message = { 0 }, before = { 0 }, after = { 0 };
	char why[64];

	again = (struct run){ 0 };
	description_write(&message, run);
	FUZZ_HOLDS(!message.failed && !message.lossy);
	FUZZ_HOLDS(!description_read(&d, message.text, message.used, &again, why, sizeof(why)));
	write_meta(&before, run);
	write_meta(&after, &again);
	FUZZ_HOLDS(before.used == after.used && !memcmp(before.text, after.text, before.used));
	json_decref(fuzz_json(after.text, after.used));
	described_done(&d);
	jsonw_done(&message);
	jsonw_done(&before);
	jsonw_done(&after);
}

static void read_description(const char *text, size_t length)
{
	static struct described d;
	static struct run run;
	char why[64];

	run = (struct run){ 0 };
	if (!description_read(&d, text, length, &run, why, sizeof(why)))
		check_description(&run);
	described_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	if (!size)
		return 0;
	read_request(text + 1, size - 1, data[0] % (REQUEST_FDS + 1));
	read_description(text + 1, size - 1);
	return 0;
}
