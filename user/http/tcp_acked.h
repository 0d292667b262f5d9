/* SPDX-License-Identifier: BSD-2-Clause */
/* How much the other end of a TCP connection has received. */
#ifndef HTTP_TCP_ACKED_H
#define HTTP_TCP_ACKED_H

#include <stdint.h>

/* Returns the bytes that the peer of @fd has acknowledged; 0 if @fd is no TCP socket. */
uint64_t tcp_acked_bytes(int fd);

#endif
