# SPDX-License-Identifier: GPL-2.0-or-later
# powerpc64le-linux-gnu-gcc-12 -O1 -fno-inline -gdwarf-5 -fno-asynchronous-unwind-tables -fdebug-prefix-map=$PWD=/src -S sum.c
	.file	"sum.c"
	.machine power8
	.abiversion 2
	.section	".text"
.Ltext0:
	.cfi_sections	.debug_frame
	.file 1 "sum.c"
	.align 2
	.globl sum
	.type	sum, @function
sum:
.LVL0:
.LFB2:
	.loc 1 12 20 view -0
	.cfi_startproc
.LCF0:
0:	addis 2,12,.TOC.-.LCF0@ha
	addi 2,2,.TOC.-.LCF0@l
	.localentry	sum,.-sum
	.loc 1 13 3 view .LVU1
	.loc 1 14 3 view .LVU2
.LBB13:
	.loc 1 14 8 view .LVU3
	.loc 1 14 21 view .LVU4
	cmpwi 0,3,0
	ble 0,.L4
	rldicl 7,3,0,32
	.loc 1 14 12 is_stmt 0 view .LVU5
	li 8,0
.LBE13:
	.loc 1 13 7 view .LVU6
	li 3,0
.LVL1:
.LBB28:
	.loc 1 15 14 view .LVU7
	addis 6,2,.LANCHOR0@toc@ha
	addi 6,6,.LANCHOR0@toc@l
	mtctr 7
.LVL2:
.L3:
	.loc 1 15 5 is_stmt 1 discriminator 3 view .LVU8
.LBB14:
.LBI14:
	.loc 1 7 50 discriminator 3 view .LVU9
.LBB15:
	.loc 1 8 3 discriminator 3 view .LVU10
.LBB16:
.LBI16:
	.loc 1 3 50 discriminator 3 view .LVU11
.LBB17:
	.loc 1 4 3 discriminator 3 view .LVU12
.LBE17:
.LBE16:
.LBE15:
.LBE14:
	.loc 1 15 14 is_stmt 0 discriminator 3 view .LVU13
	rldic 9,8,2,56
.LBB27:
.LBB26:
.LBB20:
.LBB18:
	.loc 1 4 16 discriminator 3 view .LVU14
	lwzx 10,6,9
	slwi 9,10,1
	add 9,9,10
.LVL3:
	.loc 1 4 16 discriminator 3 view .LVU15
.LBE18:
.LBE20:
	.loc 1 9 3 is_stmt 1 discriminator 3 view .LVU16
.LBB21:
.LBI21:
	.loc 1 3 50 discriminator 3 view .LVU17
.LBB22:
	.loc 1 4 3 discriminator 3 view .LVU18
	.loc 1 4 3 is_stmt 0 discriminator 3 view .LVU19
.LBE22:
.LBE21:
.LBB24:
.LBB19:
	.loc 1 4 20 discriminator 3 view .LVU20
	addi 10,9,1
.LVL4:
	.loc 1 4 20 discriminator 3 view .LVU21
.LBE19:
.LBE24:
.LBB25:
.LBB23:
	addi 9,9,7
.LBE23:
.LBE25:
	.loc 1 9 16 discriminator 3 view .LVU22
	xor 9,10,9
.LBE26:
.LBE27:
	.loc 1 15 11 discriminator 3 view .LVU23
	add 3,3,9
.LVL5:
	.loc 1 14 31 is_stmt 1 discriminator 3 view .LVU24
	addi 8,8,1
.LVL6:
	.loc 1 14 21 discriminator 3 view .LVU25
	addi 7,7,-1
	bdnz .L3
.LVL7:
.L2:
	.loc 1 14 21 is_stmt 0 discriminator 3 view .LVU26
.LBE28:
	.loc 1 17 3 is_stmt 1 view .LVU27
	.loc 1 18 1 is_stmt 0 view .LVU28
	extsw 3,3
	blr
.LVL8:
.L4:
	.loc 1 13 7 view .LVU29
	li 3,0
.LVL9:
	.loc 1 13 7 view .LVU30
	b .L2
	.long 0
	.byte 0,0,0,0,0,0,0,0
	.cfi_endproc
.LFE2:
	.size	sum,.-sum
	.align 2
	.globl _start
	.type	_start, @function
_start:
.LVL10:
.LFB3:
	.loc 1 20 23 is_stmt 1 view -0
	.cfi_startproc
.LCF1:
0:	addis 2,12,.TOC.-.LCF1@ha
	addi 2,2,.TOC.-.LCF1@l
	.localentry	_start,.-_start
	.loc 1 20 23 is_stmt 0 view .LVU32
	mflr 0
	std 0,16(1)
	std 30,-16(1)
	std 31,-8(1)
	stdu 1,-48(1)
	.cfi_def_cfa_offset 48
	.cfi_offset 65, 16
	.cfi_offset 30, -16
	.cfi_offset 31, -8
	mr 31,3
	.loc 1 21 3 is_stmt 1 view .LVU33
	.loc 1 21 10 is_stmt 0 view .LVU34
	bl sum
.LVL11:
	.loc 1 21 10 view .LVU35
	mr 30,3
	.loc 1 21 23 view .LVU36
	addi 31,31,1
	extsw 3,31
	bl sum
.LVL12:
	.loc 1 21 21 view .LVU37
	add 3,3,30
	.loc 1 22 1 view .LVU38
	extsw 3,3
	addi 1,1,48
	.cfi_def_cfa_offset 0
	ld 0,16(1)
	mtlr 0
	.cfi_restore 65
	ld 30,-16(1)
	ld 31,-8(1)
	.cfi_restore 31
	.cfi_restore 30
	blr
	.long 0
	.byte 0,0,0,1,128,2,0,0
	.cfi_endproc
.LFE3:
	.size	_start,.-_start
	.globl values
	.section	".data"
	.align 2
	.set	.LANCHOR0,. + 0
	.type	values, @object
	.size	values, 256
values:
	.long	1
	.long	2
	.zero	248
	.section	".text"
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.4byte	0x1e3
	.2byte	0x5
	.byte	0x1
	.byte	0x8
	.4byte	.Ldebug_abbrev0
	.uleb128 0x7
	.4byte	.LASF6
	.byte	0x1d
	.4byte	.LASF7
	.4byte	.LASF8
	.8byte	.Ltext0
	.8byte	.Letext0-.Ltext0
	.4byte	.Ldebug_line0
	.uleb128 0x8
	.4byte	0x45
	.4byte	0x3e
	.uleb128 0x9
	.4byte	0x3e
	.byte	0x3f
	.byte	0
	.uleb128 0xa
	.byte	0x8
	.byte	0x7
	.4byte	.LASF0
	.uleb128 0xb
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0xc
	.4byte	.LASF3
	.byte	0x1
	.byte	0x1
	.byte	0x5
	.4byte	0x2e
	.uleb128 0x9
	.byte	0x3
	.8byte	values
	.uleb128 0xd
	.4byte	.LASF1
	.byte	0x1
	.byte	0x14
	.byte	0x5
	.4byte	0x45
	.8byte	.LFB3
	.8byte	.LFE3-.LFB3
	.uleb128 0x1
	.byte	0x9c
	.4byte	0xc4
	.uleb128 0x2
	.4byte	.LASF2
	.byte	0x14
	.byte	0x10
	.4byte	0x45
	.4byte	.LLST11
	.4byte	.LVUS11
	.uleb128 0xe
	.8byte	.LVL11
	.4byte	0xc4
	.4byte	0xaf
	.uleb128 0x3
	.uleb128 0x1
	.byte	0x53
	.uleb128 0x2
	.byte	0x8f
	.sleb128 0
	.byte	0
	.uleb128 0xf
	.8byte	.LVL12
	.4byte	0xc4
	.uleb128 0x3
	.uleb128 0x1
	.byte	0x53
	.uleb128 0x2
	.byte	0x8f
	.sleb128 0
	.byte	0
	.byte	0
	.uleb128 0x10
	.string	"sum"
	.byte	0x1
	.byte	0xc
	.byte	0x5
	.4byte	0x45
	.8byte	.LFB2
	.8byte	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.4byte	0x1a4
	.uleb128 0x2
	.4byte	.LASF2
	.byte	0xc
	.byte	0xd
	.4byte	0x45
	.4byte	.LLST0
	.4byte	.LVUS0
	.uleb128 0x11
	.4byte	.LASF4
	.byte	0x1
	.byte	0xd
	.byte	0x7
	.4byte	0x45
	.4byte	.LLST1
	.4byte	.LVUS1
	.uleb128 0x4
	.4byte	.LLRL2
	.uleb128 0x12
	.string	"i"
	.byte	0x1
	.byte	0xe
	.byte	0xc
	.4byte	0x45
	.4byte	.LLST3
	.4byte	.LVUS3
	.uleb128 0x5
	.4byte	0x1a4
	.8byte	.LBI14
	.byte	.LVU9
	.4byte	.LLRL4
	.byte	0xf
	.byte	0xe
	.uleb128 0x1
	.4byte	0x1b5
	.4byte	.LLST5
	.4byte	.LVUS5
	.uleb128 0x4
	.4byte	.LLRL4
	.uleb128 0x13
	.4byte	0x1c0
	.4byte	.LLST6
	.4byte	.LVUS6
	.uleb128 0x14
	.4byte	0x1cd
	.8byte	.LBI16
	.byte	.LVU11
	.4byte	.LLRL7
	.byte	0x1
	.byte	0x8
	.byte	0xf
	.4byte	0x17e
	.uleb128 0x1
	.4byte	0x1da
	.4byte	.LLST8
	.4byte	.LVUS8
	.byte	0
	.uleb128 0x5
	.4byte	0x1cd
	.8byte	.LBI21
	.byte	.LVU17
	.4byte	.LLRL9
	.byte	0x9
	.byte	0x12
	.uleb128 0x1
	.4byte	0x1da
	.4byte	.LLST10
	.4byte	.LVUS10
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x15
	.4byte	.LASF9
	.byte	0x1
	.byte	0x7
	.byte	0x32
	.4byte	0x45
	.byte	0x3
	.4byte	0x1cd
	.uleb128 0x6
	.4byte	.LASF5
	.byte	0x7
	.byte	0x3b
	.4byte	0x45
	.uleb128 0x16
	.4byte	.LASF10
	.byte	0x1
	.byte	0x8
	.byte	0x7
	.4byte	0x45
	.byte	0
	.uleb128 0x17
	.4byte	.LASF11
	.byte	0x1
	.byte	0x3
	.byte	0x32
	.4byte	0x45
	.byte	0x3
	.uleb128 0x6
	.4byte	.LASF5
	.byte	0x3
	.byte	0x3d
	.4byte	0x45
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x5
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x49
	.byte	0
	.uleb128 0x2
	.uleb128 0x18
	.uleb128 0x7e
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0xb
	.byte	0x1
	.uleb128 0x55
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1
	.uleb128 0x2138
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x58
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x1b
	.uleb128 0xe
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x8
	.uleb128 0x1
	.byte	0x1
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x21
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2f
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0xa
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.byte	0
	.byte	0
	.uleb128 0xb
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0xc
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0xd
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xe
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xf
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x10
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x11
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x12
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x13
	.uleb128 0x34
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x14
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1
	.uleb128 0x2138
	.uleb128 0xb
	.uleb128 0x55
	.uleb128 0x17
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x15
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x20
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x16
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x17
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x20
	.uleb128 0xb
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_loclists,"",@progbits
	.4byte	.Ldebug_loc3-.Ldebug_loc2
.Ldebug_loc2:
	.2byte	0x5
	.byte	0x8
	.byte	0
	.4byte	0
.Ldebug_loc0:
.LVUS11:
	.uleb128 0
	.uleb128 .LVU35
	.uleb128 .LVU35
	.uleb128 0
.LLST11:
	.byte	0x4
	.uleb128 .LVL10-.Ltext0
	.uleb128 .LVL11-1-.Ltext0
	.uleb128 0x1
	.byte	0x53
	.byte	0x4
	.uleb128 .LVL11-1-.Ltext0
	.uleb128 .LFE3-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x53
	.byte	0x9f
	.byte	0
.LVUS0:
	.uleb128 0
	.uleb128 .LVU7
	.uleb128 .LVU7
	.uleb128 .LVU8
	.uleb128 .LVU8
	.uleb128 .LVU29
	.uleb128 .LVU29
	.uleb128 .LVU30
	.uleb128 .LVU30
	.uleb128 0
.LLST0:
	.byte	0x4
	.uleb128 .LVL0-.Ltext0
	.uleb128 .LVL1-.Ltext0
	.uleb128 0x1
	.byte	0x53
	.byte	0x4
	.uleb128 .LVL1-.Ltext0
	.uleb128 .LVL2-.Ltext0
	.uleb128 0x1
	.byte	0x57
	.byte	0x4
	.uleb128 .LVL2-.Ltext0
	.uleb128 .LVL8-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x53
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LVL9-.Ltext0
	.uleb128 0x1
	.byte	0x53
	.byte	0x4
	.uleb128 .LVL9-.Ltext0
	.uleb128 .LFE2-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x53
	.byte	0x9f
	.byte	0
.LVUS1:
	.uleb128 .LVU2
	.uleb128 .LVU8
	.uleb128 .LVU8
	.uleb128 .LVU26
	.uleb128 .LVU29
	.uleb128 0
.LLST1:
	.byte	0x4
	.uleb128 .LVL0-.Ltext0
	.uleb128 .LVL2-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL2-.Ltext0
	.uleb128 .LVL7-.Ltext0
	.uleb128 0x1
	.byte	0x53
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LFE2-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0
.LVUS3:
	.uleb128 .LVU4
	.uleb128 .LVU8
	.uleb128 .LVU8
	.uleb128 .LVU26
	.uleb128 .LVU29
	.uleb128 0
.LLST3:
	.byte	0x4
	.uleb128 .LVL0-.Ltext0
	.uleb128 .LVL2-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL2-.Ltext0
	.uleb128 .LVL7-.Ltext0
	.uleb128 0x1
	.byte	0x58
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LFE2-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0
.LVUS5:
	.uleb128 .LVU9
	.uleb128 .LVU19
.LLST5:
	.byte	0x4
	.uleb128 .LVL2-.Ltext0
	.uleb128 .LVL3-.Ltext0
	.uleb128 0x17
	.byte	0x78
	.sleb128 0
	.byte	0x8
	.byte	0x3f
	.byte	0x1a
	.byte	0x8
	.byte	0x20
	.byte	0x24
	.byte	0x8
	.byte	0x20
	.byte	0x26
	.byte	0x32
	.byte	0x24
	.byte	0x3
	.8byte	values
	.byte	0x22
	.byte	0
.LVUS6:
	.uleb128 .LVU15
	.uleb128 .LVU21
	.uleb128 .LVU21
	.uleb128 .LVU26
.LLST6:
	.byte	0x4
	.uleb128 .LVL3-.Ltext0
	.uleb128 .LVL4-.Ltext0
	.uleb128 0x3
	.byte	0x79
	.sleb128 1
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL4-.Ltext0
	.uleb128 .LVL7-.Ltext0
	.uleb128 0x1
	.byte	0x5a
	.byte	0
.LVUS8:
	.uleb128 .LVU11
	.uleb128 .LVU15
.LLST8:
	.byte	0x4
	.uleb128 .LVL2-.Ltext0
	.uleb128 .LVL3-.Ltext0
	.uleb128 0x17
	.byte	0x78
	.sleb128 0
	.byte	0x8
	.byte	0x3f
	.byte	0x1a
	.byte	0x8
	.byte	0x20
	.byte	0x24
	.byte	0x8
	.byte	0x20
	.byte	0x26
	.byte	0x32
	.byte	0x24
	.byte	0x3
	.8byte	values
	.byte	0x22
	.byte	0
.LVUS10:
	.uleb128 .LVU17
	.uleb128 .LVU19
.LLST10:
	.byte	0x4
	.uleb128 .LVL3-.Ltext0
	.uleb128 .LVL3-.Ltext0
	.uleb128 0x1c
	.byte	0x78
	.sleb128 0
	.byte	0x8
	.byte	0x3f
	.byte	0x1a
	.byte	0x8
	.byte	0x20
	.byte	0x24
	.byte	0x8
	.byte	0x20
	.byte	0x26
	.byte	0x32
	.byte	0x24
	.byte	0x3
	.8byte	values
	.byte	0x22
	.byte	0x94
	.byte	0x4
	.byte	0x23
	.uleb128 0x2
	.byte	0x9f
	.byte	0
.Ldebug_loc3:
	.section	.debug_aranges,"",@progbits
	.4byte	0x2c
	.2byte	0x2
	.4byte	.Ldebug_info0
	.byte	0x8
	.byte	0
	.2byte	0
	.2byte	0
	.8byte	.Ltext0
	.8byte	.Letext0-.Ltext0
	.8byte	0
	.8byte	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.4byte	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.2byte	0x5
	.byte	0x8
	.byte	0
	.4byte	0
.LLRL2:
	.byte	0x4
	.uleb128 .LBB13-.Ltext0
	.uleb128 .LBE13-.Ltext0
	.byte	0x4
	.uleb128 .LBB28-.Ltext0
	.uleb128 .LBE28-.Ltext0
	.byte	0
.LLRL4:
	.byte	0x4
	.uleb128 .LBB14-.Ltext0
	.uleb128 .LBE14-.Ltext0
	.byte	0x4
	.uleb128 .LBB27-.Ltext0
	.uleb128 .LBE27-.Ltext0
	.byte	0
.LLRL7:
	.byte	0x4
	.uleb128 .LBB16-.Ltext0
	.uleb128 .LBE16-.Ltext0
	.byte	0x4
	.uleb128 .LBB20-.Ltext0
	.uleb128 .LBE20-.Ltext0
	.byte	0x4
	.uleb128 .LBB24-.Ltext0
	.uleb128 .LBE24-.Ltext0
	.byte	0
.LLRL9:
	.byte	0x4
	.uleb128 .LBB21-.Ltext0
	.uleb128 .LBE21-.Ltext0
	.byte	0x4
	.uleb128 .LBB25-.Ltext0
	.uleb128 .LBE25-.Ltext0
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF1:
	.string	"_start"
.LASF0:
	.string	"long unsigned int"
.LASF8:
	.string	"/src"
.LASF5:
	.string	"value"
.LASF6:
	.string	"GNU C17 12.2.0 -msecure-plt -gdwarf-5 -O1 -fno-inline -fno-asynchronous-unwind-tables"
.LASF11:
	.string	"scaled"
.LASF3:
	.string	"values"
.LASF10:
	.string	"first"
.LASF2:
	.string	"count"
.LASF4:
	.string	"total"
.LASF9:
	.string	"pair"
.LASF7:
	.string	"sum.c"
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
