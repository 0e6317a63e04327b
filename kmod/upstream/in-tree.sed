# SPDX-License-Identifier: GPL-2.0-or-later
# Names of kmod/htm_compat.h, and what they stand for in the kernel that has everything.
s/htm_attr_starts_paused(&event->attr)/event->attr.aux_start_paused/
s/htm_attr_pauses_another(attr)/attr->aux_pause || attr->aux_resume/
s/htm_attr_has_spare_config(attr)/attr->config2 || attr->config3 || attr->config4/
s/HTM_BIN_ATTRIBUTE_LIST/const struct bin_attribute *const/
s/HTM_BIN_ATTRIBUTE\>/const struct bin_attribute/
s/htm_sample_save_raw(&data, &raw)/perf_sample_save_raw_data(\&data, event, \&raw)/
s/htm_event_disable_inatomic/perf_event_disable_inatomic/
# A macro that is configured already is busy; the module's EALREADY keeps it apart from its own EBUSY.
s/-EALREADY,\( *\)\("H_STATE"\)/-EBUSY,   \1\2/
# What refers to other files of the module.
s/ See htm_[a-z]*\.h\.//
s/, HTM_\* bits of htm_macro\.c/, HTM_CLAIMED and the others below/
