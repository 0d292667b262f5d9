// SPDX-License-Identifier: BSD-2-Clause
#include "study/ratio.h"

#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TAIL 0.025      /* on each side of the interval */
#define TAIL_Z 1.959964 /* the quantile of the normal distribution for it */

void measure_make(struct measure *m, double *v, size_t nr)
{
	double sum = 0, squares = 0;

	*m = (struct measure){ nr, NAN, NAN, NAN, NAN, NAN };
	if (!nr)
		return;
	stats_sort(v, nr);
	for (size_t i = 0; i < nr; i++)
		sum += v[i];
	m->mean = sum / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (v[i] - m->mean) * (v[i] - m->mean);
	if (nr > 1)
		m->sd = sqrt(squares / (double)(nr - 1));
	m->median = stats_quantile(v, nr, 0.5);
	m->least = v[0];
	m->most = v[nr - 1];
}

/*
 * In how many of all arrangements U is 0, 1, ...: the coefficients of the product of
 * (1 - q^(na + i)) / (1 - q^i) over i from 1 to nb.
 */
static double *arrangements_count(size_t na, size_t nb)
{
	const size_t room = na * nb + 1;
	double *ways = calloc(room, sizeof(*ways));

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 1; i <= nb; i++) {
		for (size_t u = room; u-- > na + i;)
			ways[u] -= ways[u - na - i];
		for (size_t u = i; u < room; u++)
			ways[u] += ways[u - i];
	}
	return ways;
}

/* The largest k for which the chance of U < k is below the tail; 0: there is none. */
static int exact_place(size_t na, size_t nb, size_t *k)
{
	double *ways = arrangements_count(na, nb), all = 0, below = 0;

	if (!ways)
		return -ENOMEM;
	for (size_t u = 0; u <= na * nb; u++)
		all += ways[u];
	for (*k = 0; *k < na * nb; (*k)++) {
		below += ways[*k];
		if (below / all >= TAIL)
			break;
	}
	free(ways);
	return 0;
}

static size_t normal_place(double na, double nb)
{
	double at = na * nb / 2 + 0.5 - TAIL_Z * sqrt(na * nb * (na + nb + 1) / 12);

	return at >= 1 ? (size_t)at : 0;
}

int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r)
{
	const size_t nr = na * nb;
	double *all = calloc(nr + 1, sizeof(*all));
	size_t k = 0;
	int err = all ? 0 : -ENOMEM;

	*r = (struct ratio){ .estimate = NAN };
	for (size_t i = 0; !err && i < nr; i++)
		all[i] = b[i % nb] / a[i / nb];
	if (!err && na + nb <= RANK_TEST_EXACT)
		err = exact_place(na, nb, &k);
	else if (!err)
		k = normal_place((double)na, (double)nb);
	if (!err && nr) {
		stats_sort(all, nr);
		/* between two of them the geometric mean, as of logarithms */
		r->estimate = sqrt(all[(nr - 1) / 2] * all[nr / 2]);
		r->has_interval = k > 0;
	}
	if (!err && r->has_interval) {
		r->low = all[k - 1];
		r->high = all[nr - k];
	}
	free(all);
	return err;
}
