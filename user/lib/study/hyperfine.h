/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of hyperfine --export-json, with what each run held in memory as its later releases. */
#ifndef STUDY_HYPERFINE_H
#define STUDY_HYPERFINE_H

#include "base/json.h"
#include "study/result.h"

/* Writes the document, with the cases that have a run, in the order of the plan. -ENOMEM. */
int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r);

#endif
