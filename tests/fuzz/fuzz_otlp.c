// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes that should be messages of OTLP: as an answer of a server they mean something, with a
 * reason of printable text, and as a batch they are divided into parts that are the whole again.
 */
#include "fuzz.h"

#include "push/batch.h"
#include "push/otlp.h"
#include "push/reply.h"

static void check_answer(const char *bytes, size_t size, long status)
{
	const struct reply r = {
		.status = status, .text = bytes, .length = size, .is_otlp = true, .retry_after = ""
	};
	struct answer a;

	answer_read(&a, &r, 0);
	FUZZ_HOLDS((a.kind == ANSWER_PARTLY) == !!a.refused);
	FUZZ_HOLDS((a.kind == ANSWER_ACCEPTED) == !*a.why);
	FUZZ_HOLDS(status != 200 || a.kind == ANSWER_ACCEPTED || a.kind == ANSWER_PARTLY);
	fuzz_is_inert(a.why, strlen(a.why));
}

static void check_batch(const char *bytes, size_t size)
{
	const size_t lines = batch_count(bytes, size);
	size_t seen = 0, nr;

	for (size_t at = 0, n; at < size; at += n, seen++) {
		n = batch_skip(bytes + at, size - at, 1);
		FUZZ_HOLDS(n && n <= size - at);
		FUZZ_HOLDS(batch_cut(bytes + at, size - at, 1, &nr) == n && nr == 1);
	}
	FUZZ_HOLDS(seen == lines);
	FUZZ_HOLDS(batch_skip(bytes, size, lines) == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct otlp_field f;

	for (unsigned field = 1; field < 4; field++)
		if (otlp_find(&f, field, bytes, size) && f.bytes)
			FUZZ_HOLDS(f.bytes >= bytes && f.length <= size &&
				   f.bytes + f.length <= bytes + size);
	check_answer(bytes, size, 200);
	check_answer(bytes, size, 400);
	check_answer(bytes, size, 503);
	check_batch(bytes, size);
	return 0;
}
