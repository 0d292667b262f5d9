/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of report/page and third_party/uplot, embedded in the program. */
#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

#define ASSET(name) extern const char asset_##name[], asset_##name##_end[]

ASSET(uplot_css);
ASSET(uplot_js);
ASSET(uplot_licence);
ASSET(page_css);
ASSET(tables_css);
ASSET(timeline_css);
ASSET(phases_css);
ASSET(events_css);
ASSET(times_css);
ASSET(body_html);
ASSET(spanlanes_html);
ASSET(charts_html);
ASSET(pushed_html);
ASSET(phases_html);
ASSET(spans_html);
ASSET(holders_html);
ASSET(instances_html);
ASSET(timeline_html);
ASSET(tables_html);
ASSET(events_html);
ASSET(facts_html);
ASSET(base_js);
ASSET(header_js);
ASSET(tiles_js);
ASSET(times_js);
ASSET(marks_js);
ASSET(charts_js);
ASSET(legend_js);
ASSET(folded_js);
ASSET(stage_js);
ASSET(held_js);
ASSET(phases_js);
ASSET(events_js);
ASSET(holders_js);
ASSET(instances_js);
ASSET(overview_js);
ASSET(pushed_js);
ASSET(cells_js);
ASSET(lanes_js);
ASSET(words_js);
ASSET(facts_js);
ASSET(timeline_js);
ASSET(tables_js);
ASSET(spans_js);
ASSET(controls_js);
ASSET(main_js);
ASSET(overlay_html);
ASSET(comparison_js);
ASSET(overlay_js);

#endif
