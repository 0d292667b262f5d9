/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpfmon why reports of GPUs that are held without work, and of processes that hold them. */
#ifndef BPFMON_WHY_GPUS_H
#define BPFMON_WHY_GPUS_H

#include "base/json.h"
#include "run/sample.h"
#include "waits/waits.h"

/* Prints lines on the GPUs of the run whose last sample is @last, and of processes that wait. */
void why_gpus_print(const struct waits *w, const struct sample *last);
/* Writes the member "gpus" of the whole document, if there is something to report. */
void why_gpus_json(struct jsonw *j, const struct sample *last);
/* Writes the member "gpu_files" of a process that waits and has some open. */
void why_gpu_files_json(struct jsonw *j, const struct wait *wait);

#endif
