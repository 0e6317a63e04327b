# SPDX-License-Identifier: GPL-2.0-or-later
# A function that the linker removes. The range of its unit then begins at address 0 and overlaps all other code.
	.bss
	.globl	kept
kept:	.skip	4
	.section .text.removed,"ax",@progbits
removed:
	nop
	.section .debug_abbrev,"",@progbits
abbreviations:
	.byte	1, 0x11, 0, 0x11, 1, 0x12, 7, 0, 0, 0	# a unit with low_pc and high_pc
	.section .debug_info,"",@progbits
	.4byte	end - begin
begin:	.2byte	4
	.4byte	abbreviations
	.byte	8, 1
	.8byte	removed, 0x20000000
end:
