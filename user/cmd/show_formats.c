// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/show_formats.h"

#include "view/summary_markdown.h"
#include "wire/template.h"
#include "wire/tree.h"
#include "wire/writer.h"

#include <errno.h>
#include <stdio.h>

int run_show_json(const json_t *meta, const struct summary *total, const char *state,
		  const struct jsonw *more)
{
	struct jsonw first = { 0 }, j = { 0 };
	int err;

	tree_write(&first, NULL, meta);
	write_summary(&j, total);
	err = first.failed || j.failed || (more && more->failed) ? -ENOMEM : 0;
	if (!err) {
		printf("{\"schema\":\"bpfmon-show/"
		       "1\",\"state\":\"%s\",\"meta\":%s,\"summary\":%.*s",
		       state, first.text, (int)(j.used - 1), j.text);
		if (more)
			printf(",%s", more->text);
		puts("}");
	}
	jsonw_done(&first);
	jsonw_done(&j);
	return err;
}

int run_show_markdown(const json_t *meta, const struct summary *total,
		      const struct summary_view *view)
{
	meta_markdown(stdout, meta);
	summary_markdown(stdout, total, view);
	return 0;
}

int run_show_template(const char *template, const json_t *meta, const struct summary *total)
{
	struct buffer b = { 0 };
	int err = template_write(&b, template, total, json_object_get(meta, "command"));

	if (!err)
		fwrite(b.text, 1, b.used, stdout);
	buffer_done(&b);
	return err;
}
