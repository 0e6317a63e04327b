/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HTM_SHUTDOWN_H
#define HTM_SHUTDOWN_H

/* Handles shutdown, crash and live migration. */
int htm_shutdown_init(void);
void htm_shutdown_exit(void);

#endif /* HTM_SHUTDOWN_H */
