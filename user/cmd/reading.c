// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/reading.h"

#include "export/export.h"

#include <errno.h>
#include <string.h>

int parse_export_format(struct options *o, const char *text)
{
	o->export_as = export_find(text);
	return o->export_as ? 0 : -EINVAL;
}

int parse_export_path(struct options *o, const char *text)
{
	o->export_path = text;
	return *text ? 0 : -EINVAL;
}

int parse_by(struct options *o, const char *text)
{
	o->by = text;
	return *text ? 0 : -EINVAL;
}

int parse_baseline(struct options *o, const char *text)
{
	o->baseline = text;
	return 0;
}

int parse_html(struct options *o, const char *text)
{
	o->html = text;
	return *text ? 0 : -EINVAL;
}

int parse_fail_if(struct options *o, const char *text)
{
	if (o->nr_fail_if == MAX_FAIL_IF)
		return -EINVAL;
	o->fail_if[o->nr_fail_if++] = text;
	return 0;
}

int parse_report_path(struct options *o, const char *text)
{
	o->report_path = text;
	return *text ? 0 : -EINVAL;
}

int parse_report_format(struct options *o, const char *text)
{
	o->report_format = text;
	return strcmp(text, "html") == 0 || strcmp(text, "svg") == 0 ? 0 : -EINVAL;
}
