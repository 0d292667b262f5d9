// SPDX-License-Identifier: BSD-2-Clause
/*
 * Says to the run around it, by bpfmon.h, what the test looks for in the run: a span with one in
 * it and a child, a mark, metrics. It is C and C++. Prints what each call has returned.
 * Usage: insider
 */
#include "../../tools/c/bpfmon.h"

#include <locale.h>
#include <sys/wait.h>

static int child_run(void)
{
	const pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	return status;
}

#ifdef __cplusplus
static void scopes_open(void)
{
	bpfmon::span outer("scope");
	try {
		bpfmon::span inner("thrown through");

		throw 1;
	} catch (int) {
	}
}
#endif

int main(void)
{
	static const char *const tags[] = { "sample=A7", "quote=\"\\\n", "empty=", NULL };

	setlocale(LC_ALL, ""); /* numbers may have commas */
	errno = 123;
	printf("in_run %d\n", bpfmon_in_run());
	printf("begin %ld\n", bpfmon_span_begin_tags("outer \"1\"", tags));
	printf("within %ld\n", bpfmon_span_begin("inner"));
	child_run();
	printf("overlap %ld\n", bpfmon_span_end("outer \"1\""));
	printf("end %ld\n", bpfmon_span_end("inner"));
	printf("end %ld\n", bpfmon_span_end("outer \"1\""));
	printf("mark %d\n", bpfmon_mark("half"));
	printf("metric %d\n", bpfmon_metric("mark, loss", -0.0625));
	printf("metric %d\n", bpfmon_metric("tiny", 1e-300));
	printf("metric %d\n", bpfmon_metric("c\nd,x=1 v", 2));
	printf("metric %d\n", bpfmon_metric("a\\, b\\", 3));
	printf("refused %d\n", bpfmon_metric("", 1));
	printf("refused %d\n", bpfmon_metric("#5", 1));
	printf("line %d\n", bpfmon_metric_line("queue,kind=a length=7i"));
	printf("infinite %d\n", bpfmon_metric("loss", 1e308 * 10));
	printf("errno %d\n", errno);
#ifdef __cplusplus
	scopes_open();
#endif
	return 0;
}
