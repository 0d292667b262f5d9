// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first thread ends by pthread_exit(); after that a worker burns MS milliseconds of CPU,
 * touches 20 MB and ends the process: CPU and memory peak come after the leader's death.
 * Usage: leaderfirst MS
 */
#include "truth.h"
#include <pthread.h>

static pthread_t leader;
static double ms;

static void *worker_run(void *arg)
{
	struct rusage ru;
	char path[64], buf[256], *state;
	ssize_t len;
	int fd;

	pthread_join(leader, NULL);
	sleep_seconds(0.002);
	spin_ms(ms);
	touch_mib(20);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	fd = open(path, O_RDONLY);
	len = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);
	buf[len > 0 ? len : 0] = 0;
	state = strrchr(buf, ')');
	getrusage(RUSAGE_SELF, &ru);
	truth_write(1, 1, 0, ",\"maxrss_kb\":%ld,\"leader_state\":\"%c\"", ru.ru_maxrss,
		    state && state[1] ? state[2] : '?');
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		truth_usage("leaderfirst MS");
	ms = truth_number(argv[1]);
	leader = pthread_self();
	errno = pthread_create(&thread, NULL, worker_run, NULL);
	if (errno)
		truth_fail("pthread_create");
	pthread_exit(NULL);
}
