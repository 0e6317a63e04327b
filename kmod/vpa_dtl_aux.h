/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AUX area of a vpa_dtl event: consecutive slots of 48 bytes, without padding.
 * A slot can wrap at the end of the area. The first slot has the clock.
 */
#ifndef VPA_DTL_AUX_H
#define VPA_DTL_AUX_H

#include <linux/types.h>

struct perf_event;

/**
 * struct vpa_dtl_aux - the AUX area, which may outlive the event that set it up
 * @pages: kernel address of each page; the core owns the pages
 * @size: size in bytes, a power of two
 * @has_clock: the first slot was written
 */
struct vpa_dtl_aux {
	void **pages;
	unsigned long size;
	bool has_clock;
};

void vpa_dtl_clock_init(void);

void *vpa_dtl_aux_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void vpa_dtl_aux_free(void *aux);
void vpa_dtl_aux_put(const struct vpa_dtl_aux *aux, u64 head, const void *slot);
void vpa_dtl_aux_put_clock(struct vpa_dtl_aux *aux, u64 head);

#endif /* VPA_DTL_AUX_H */
