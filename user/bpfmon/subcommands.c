// SPDX-License-Identifier: BSD-2-Clause
/* The tables of the subcommands of this program, and of kinds of option values. */
#include "bpfmon/subcommands.h"

#include "bpfmon/cmd_compare.h"
#include "bpfmon/cmd_list.h"
#include "bpfmon/recording_options.h"

/* clang-format off */
const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include "bpfmon/subcommands.def"
	NULL
};
/* clang-format on */

const struct value_kind value_kinds[] = {
	{ metrics_parse, metric_guess, completion_offer_metrics },
	{ list_columns_parse, columns_guess, completion_offer_columns },
	{ list_order_parse, many_metrics_guess, completion_offer_orders },
	{ many_hist_parse, many_metrics_guess, completion_offer_many },
	{ many_scatter_parse, many_metrics_guess, completion_offer_many },
	{ many_unusual_parse, many_metrics_guess, completion_offer_many },
	{ many_trend_parse, many_metrics_guess, completion_offer_many },
	{ report_many_parse, many_metrics_guess, completion_offer_many },
	{ format_parse, output_format_guess, NULL },
	{ output_parse, NULL, completion_offer_outputs },
	{ export_format_parse, export_format_guess, completion_offer_formats },
	{ fail_if_parse, NULL, completion_offer_keys },
	{ compare_by_parse, NULL, completion_offer_steps },
	{ 0 },
};
