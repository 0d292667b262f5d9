// SPDX-License-Identifier: BSD-2-Clause
/* Prints the answer of `bpfmon like`, as text and as JSON. */
#include "study/like_answer.h"

#include "base/json.h"
#include "text/format.h"
#include "text/runs_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_COMMAND 20
#define DIFFERENCES 3
#define MOST_DIGITS 6
#define PROGRAMS NR_SIGNATURE_DIMENSIONS /* in place of a dimension */
#define PROGRAM_COLUMNS 24

static const char *runs_word(size_t nr)
{
	return nr == 1 ? "run" : "runs";
}

/* Returns enough decimals to show that the nearest run is farther than the threshold. */
static int threshold_digits(const struct like_answer *a)
{
	char near[32], nearest[32];
	int digits = 2;

	do {
		snprintf(near, sizeof(near), "%.*f", digits, a->threshold);
		snprintf(nearest, sizeof(nearest), "%.*f", digits, a->nearest.distance);
	} while (!strcmp(near, nearest) && digits++ < MOST_DIGITS);
	return digits;
}

static void verdict_print(FILE *f, const struct like_shown *s)
{
	const struct like_answer *a = s->answer;
	int digits;

	format_beginning(f, s->label, RUN_CELL_BYTES);
	if (!a->nr) {
		fputs(": unknown: no compared run has a value in common with it\n", f);
	} else if (!a->has_threshold) {
		fputs(": undecided: the limit of the distance is unknown, because no kind has two "
		      "runs; the nearest runs are:\n",
		      f);
	} else if (!a->is_near) {
		digits = threshold_digits(a);
		fprintf(f,
			": unknown: the nearest run has the distance %.*f, and the limit is %.*f\n",
			digits, a->nearest.distance, digits, a->threshold);
	} else {
		fputs(": like ", f);
		format_beginning(f, a->kind, RUN_CELL_BYTES);
		fprintf(f, " (%zu of the %zu nearest %s); the limit of the distance is %.2f\n",
			a->agreeing, a->nr, runs_word(a->nr), a->threshold);
	}
}

struct widths {
	size_t ref, kind, wall, command;
};

static void cell_measure(size_t *width, const char *text)
{
	size_t columns = format_columns(text);

	if (columns > *width)
		*width = columns;
}

static const struct stored_run *neighbour_run(const struct like_shown *s, size_t i)
{
	return &s->runs->runs[s->known->list[s->answer->list[i].at].of];
}

static void neighbours_measure(const struct like_shown *s, struct widths *w, size_t width)
{
	char cell[RUN_CELL_BYTES];
	size_t others;

	*w = (struct widths){ strlen("run"), strlen("kind"), strlen("wall"), 0 };
	for (size_t i = 0; i < s->answer->nr; i++) {
		const struct stored_run *r = neighbour_run(s, i);

		cell_measure(&w->ref, run_ref_text(cell, r, s->prefixes));
		cell_measure(&w->kind, s->known->list[s->answer->list[i].at].kind);
		cell_measure(&w->wall, run_cell_text(cell, RUN_WALL, r, s->prefixes));
	}
	others = strlen("distance") + w->ref + w->kind + w->wall + 8;
	w->command = width > others + LEAST_COMMAND ? width - others : LEAST_COMMAND;
}

static void neighbours_print(FILE *f, const struct like_shown *s, size_t width)
{
	char ref[RUN_CELL_BYTES], wall[RUN_CELL_BYTES];
	struct widths w;

	neighbours_measure(s, &w, width);
	fprintf(f, "\ndistance  %*s  ", (int)w.ref, "run");
	format_padded(f, "kind", w.kind);
	fprintf(f, "  %*s  command\n", (int)w.wall, "wall");
	for (size_t i = 0; i < s->answer->nr; i++) {
		const struct stored_run *r = neighbour_run(s, i);

		fprintf(f, "%8.2f  %*s  ", s->answer->list[i].distance, (int)w.ref,
			run_ref_text(ref, r, s->prefixes));
		format_padded(f, s->known->list[s->answer->list[i].at].kind, w.kind);
		fprintf(f, "  %*s  ", (int)w.wall, run_cell_text(wall, RUN_WALL, r, s->prefixes));
		format_beginning(f, r->command ? r->command : "-", w.command);
		fputc('\n', f);
	}
}

/* Returns the weighted difference in scales, as in the distance. */
static double dimension_apart(const struct like_shown *s, const struct signature *other, int d)
{
	double apart;

	if (d == PROGRAMS)
		return s->scale->programs > 0 && s->signature->nr_programs && other->nr_programs
			       ? (double)s->scale->programs * LARGEST_DIFFERENCE *
					 like_programs_distance(s->signature, other)
			       : 0;
	if (!s->signature->has[d] || !other->has[d])
		return 0;
	apart = fabs((double)s->signature->milli[d] - other->milli[d]) / (double)s->scale->scale[d];
	return (double)s->scale->weight[d] * fmin(apart, LARGEST_DIFFERENCE);
}

/*
 * Returns the program of @of whose share differs most and by more than *@most, or @best if none
 * does.
 */
static const char *program_apart(const struct signature *of, const struct signature *other,
				 const char *best, int32_t *most)
{
	for (size_t i = 0; i < of->nr_programs; i++) {
		const struct signature_program *p = &of->program[i];
		int32_t apart = abs(p->milli - like_program_share(other, p->name));

		if (apart > *most) {
			*most = apart;
			best = p->name;
		}
	}
	return best;
}

static void programs_print(FILE *f, const struct signature *own, const struct signature *other)
{
	const char *name = own->program[0].name;
	int32_t most = 0;

	fputs("its programs (", f);
	if (memcmp(name, other->program[0].name, SIGNATURE_NAME_BYTES) != 0) {
		fputs("most in ", f);
		format_beginning(f, name, PROGRAM_COLUMNS);
		fputs(" against ", f);
		format_beginning(f, other->program[0].name, PROGRAM_COLUMNS);
	} else {
		name = program_apart(own, other, name, &most);
		name = program_apart(other, own, name, &most);
		format_beginning(f, name, PROGRAM_COLUMNS);
		fprintf(f, " %.2f against %.2f of the CPU time",
			like_program_share(own, name) / 1e3, like_program_share(other, name) / 1e3);
	}
	fputc(')', f);
}

static void difference_print(FILE *f, const struct like_shown *s, const struct signature *other,
			     int d)
{
	if (d == PROGRAMS) {
		programs_print(f, s->signature, other);
		return;
	}
	fprintf(f, "%s %.2f against %.2f", signature_dimension((enum signature_dimension)d)->key,
		s->signature->milli[d] / 1e3, other->milli[d] / 1e3);
}

static void differences_print(FILE *f, const struct like_shown *s)
{
	const struct signature *other = &s->known->list[s->answer->nearest.at].signature;
	bool is_shown[NR_SIGNATURE_DIMENSIONS + 1] = { false };

	for (int n = 0; n < DIFFERENCES; n++) {
		double most = 0;
		int at = -1;

		for (int d = 0; d <= PROGRAMS; d++) {
			double apart = is_shown[d] ? 0 : dimension_apart(s, other, d);

			if (apart > most) {
				most = apart;
				at = d;
			}
		}
		if (at < 0)
			return;
		is_shown[at] = true;
		fputs(n ? ", " : "\nthe nearest differs most in ", f);
		difference_print(f, s, other, at);
	}
}

void like_text(FILE *f, const struct like_shown *s, size_t width)
{
	verdict_print(f, s);
	if (!s->answer->nr)
		return;
	neighbours_print(f, s, width);
	differences_print(f, s);
	if (s->answer->nr_same && s->answer->nr_same < s->answer->nr)
		fputs("\nruns of the same command line come first", f);
	fprintf(f, "\ncompared with %zu %s of %zu kind%s\n", s->known->nr, runs_word(s->known->nr),
		s->known->nr_kinds, s->known->nr_kinds == 1 ? "" : "s");
}

static void signature_json(struct jsonw *j, const struct signature *g)
{
	jsonw_object(j, "signature");
	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++)
		if (g->has[d])
			jsonw_double(j, signature_dimension((enum signature_dimension)d)->key,
				     g->milli[d] / 1e3);
	jsonw_object_end(j);
	jsonw_object(j, "programs");
	for (size_t i = 0; i < g->nr_programs; i++)
		jsonw_decimal(j, g->program[i].name, (uint64_t)g->program[i].milli, 3);
	jsonw_object_end(j);
}

static void neighbour_json(struct jsonw *j, const struct like_shown *s, const struct neighbour *n)
{
	const struct known_run *known = &s->known->list[n->at];
	const struct stored_run *r = &s->runs->runs[known->of];
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_string(j, "ref", run_ref_text(ref, r, s->prefixes));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "kind", known->kind);
	jsonw_double(j, "distance", round(n->distance * 1e6) / 1e6);
	jsonw_bool(j, "same_command", known->is_same);
	jsonw_object_end(j);
}

int like_json(FILE *f, const struct like_shown *s)
{
	const struct like_answer *a = s->answer;
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_schema(&j, "like");
	jsonw_string(&j, "run", s->label);
	jsonw_bool(&j, "near", a->is_near);
	if (a->is_near)
		jsonw_string(&j, "kind", a->kind);
	jsonw_uint(&j, "agreeing", a->is_near ? a->agreeing : 0);
	if (a->has_threshold)
		jsonw_double(&j, "threshold", round(a->threshold * 1e6) / 1e6);
	jsonw_uint(&j, "known_runs", s->known->nr);
	jsonw_uint(&j, "known_kinds", s->known->nr_kinds);
	jsonw_array(&j, "neighbours");
	for (size_t i = 0; i < a->nr; i++)
		neighbour_json(&j, s, &a->list[i]);
	jsonw_array_end(&j);
	signature_json(&j, s->signature);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	return jsonw_print(&j, f);
}
