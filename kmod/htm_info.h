/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HTM_INFO_H
#define HTM_INFO_H

#include <linux/sysfs.h>

/* The hypervisor's lists about the machine: files of the PMU in sysfs, see ABI. */
extern const struct attribute_group htm_info_group;

#endif /* HTM_INFO_H */
