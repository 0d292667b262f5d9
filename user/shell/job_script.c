// SPDX-License-Identifier: BSD-2-Clause
#include "shell/job_script.h"

#include "shell/first_word.h"
#include "shell/properties.h"

#include <stdio.h>
#include <string.h>

#define PROPERTIES "# properties = " /* Snakemake, in the script that a cluster executes */
#define TASK "# NEXTFLOW TASK: "     /* in .command.run */

/* What follows @prefix at the beginning of a line; NULL: no line begins with it. */
static const char *script_line_find(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	while (text && strncmp(text, prefix, n) != 0) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? text + n : NULL;
}

/* "align (A7)": a task of the process align. */
static void task_take(struct job_name *job, const char *task)
{
	size_t n = strcspn(task, "\n"), name = n;
	char whole[JOB_TAG_BYTES];

	for (size_t i = 1; i + 1 < n && name == n; i++)
		if (task[i] == ' ' && task[i + 1] == '(')
			name = i;
	plain_text_copy(task, name, job->name, sizeof(job->name));
	plain_text_copy(task, n, whole, sizeof(whole));
	job_name_tag(job, "task", whole);
}

static void wildcards_take(struct job_name *job, const char *at)
{
	char key[JOB_TAG_BYTES], value[JOB_TAG_BYTES];

	for (at = properties_begin(at); at; at = property_next(at))
		if (property_key(at, key, sizeof(key)) && property_text(at, value, sizeof(value)))
			job_name_tag(job, key, value);
}

/* A job of one rule, or a group of jobs. */
static bool properties_take(struct job_name *job, const char *properties)
{
	const char *rule = property_find(properties, "rule");

	if (!rule)
		return property_text(property_find(properties, "groupid"), job->name,
				     sizeof(job->name));
	if (!property_text(rule, job->name, sizeof(job->name)))
		return false;
	job_name_tag(job, "rule", job->name);
	wildcards_take(job, property_value(property_find(properties, "wildcards")));
	return true;
}

bool job_script_read(struct job_name *job, const char *text)
{
	const char *properties = script_line_find(text, PROPERTIES), *task;

	if (properties)
		return properties_take(job, properties) && *job->name;
	task = script_line_find(text, TASK);
	if (task)
		task_take(job, task);
	return task && *job->name;
}
