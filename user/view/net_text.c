// SPDX-License-Identifier: BSD-2-Clause
#include "view/net_text.h"

#include "view/format.h"
#include "view/summary_parts.h"

/* "1.2 GiB received, 3 B sent"; of what is not known only the other half. */
static void net_put_pair(FILE *f, const char *title, bool has_rx, uint64_t rx, bool has_tx,
			 uint64_t tx)
{
	char a[FORMAT_BYTES];

	fprintf(f, "  %-10s  ", title);
	if (has_rx)
		fprintf(f, "%s received%s", format_bytes(a, rx), has_tx ? ", " : "");
	if (has_tx)
		fprintf(f, "%s sent", format_bytes(a, tx));
}

/* False: one of them was not counted. */
static bool net_add_up(const struct summary *s, enum metric_id tcp, enum metric_id udp,
		       enum metric_id other, uint64_t *sum)
{
	const uint64_t *v = s->total.value;

	*sum = v[tcp] + v[udp] + v[other];
	return summary_has_total(s, tcp) && summary_has_total(s, udp) &&
	       summary_has_total(s, other);
}

/*
 * Of what a socket does not know to stay on this machine, some may: of datagrams that it sends
 * without a peer, or over a bridge to a container.
 */
static void net_put_loopback(FILE *f, const struct summary *s, uint64_t rx, uint64_t tx)
{
	const uint64_t its_rx = s->total.value[M_net_rx_loopback];
	const uint64_t its_tx = s->total.value[M_net_tx_loopback];
	char a[FORMAT_BYTES];

	if (!summary_has_total(s, M_net_rx_loopback) || !summary_has_total(s, M_net_tx_loopback) ||
	    (!its_rx && !its_tx))
		return;
	if (its_rx == rx && its_tx == tx) {
		fputs("; all of it on this machine", f);
		return;
	}
	fputs("; of these at least", f);
	if (its_rx)
		fprintf(f, " %s received", format_bytes(a, its_rx));
	if (its_tx)
		fprintf(f, "%s %s sent", its_rx ? " and" : "", format_bytes(a, its_tx));
	fputs(" on this machine", f);
}

/* Without Unix sockets: what goes over those stays on this machine for certain. */
static void net_put_network(FILE *f, const struct summary *s)
{
	uint64_t rx, tx;
	bool has_rx = net_add_up(s, M_net_rx_tcp, M_net_rx_udp, M_net_rx_other, &rx);
	bool has_tx = net_add_up(s, M_net_tx_tcp, M_net_tx_udp, M_net_tx_other, &tx);

	if (!has_rx && !has_tx)
		return;
	net_put_pair(f, "network", has_rx, rx, has_tx, tx);
	if (has_rx && has_tx)
		net_put_loopback(f, s, rx, tx);
	fputc('\n', f);
}

static void net_put_unix(FILE *f, const struct summary *s)
{
	const uint64_t *v = s->total.value;
	bool has_rx = summary_has_total(s, M_net_rx_unix);
	bool has_tx = summary_has_total(s, M_net_tx_unix);

	if (!(has_rx && v[M_net_rx_unix]) && !(has_tx && v[M_net_tx_unix]))
		return;
	net_put_pair(f, "Unix", has_rx, v[M_net_rx_unix], has_tx, v[M_net_tx_unix]);
	fputc('\n', f);
}

static void net_put_wire(FILE *f, const struct summary *s)
{
	const uint64_t *v = s->total.value;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!summary_has_total(s, M_net_wire_rx) || !summary_has_total(s, M_net_wire_tx))
		return;
	net_put_pair(f, "packets", true, v[M_net_wire_rx], true, v[M_net_wire_tx]);
	if (summary_has_total(s, M_net_wire_rx_packets) &&
	    summary_has_total(s, M_net_wire_tx_packets))
		fprintf(f, ", in %s and %s", format_count(a, v[M_net_wire_rx_packets]),
			format_count(b, v[M_net_wire_tx_packets]));
	fputc('\n', f);
}

static void net_put_count(FILE *f, const struct summary *s, enum metric_id id, const char *what,
			  bool *is_first)
{
	char a[FORMAT_BYTES];

	if (!summary_has_total(s, id) || !s->total.value[id])
		return;
	fprintf(f, "%s%s %s", *is_first ? "  TCP         connections: " : ", ",
		format_count(a, s->total.value[id]), what);
	*is_first = false;
}

void summary_put_net(FILE *f, const struct summary *s)
{
	bool is_first = true;

	net_put_network(f, s);
	net_put_unix(f, s);
	net_put_wire(f, s);
	net_put_count(f, s, M_net_connects, "opened", &is_first);
	net_put_count(f, s, M_net_failed_connects, "failed", &is_first);
	net_put_count(f, s, M_net_accepts, "came in", &is_first);
	net_put_count(f, s, M_net_retransmits, "segments sent again", &is_first);
	if (!is_first)
		fputc('\n', f);
}
