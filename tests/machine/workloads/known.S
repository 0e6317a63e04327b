// SPDX-License-Identifier: GPL-2.0-or-later
// known - a program whose executed instructions are known by construction: it has fixed addresses, no
// library and no input. known_expected.cpp computes the executed instructions and accessed data from
// the labels alone. A label directly before a load or store names its data address.
//
//   r20 data   r21 walk   r22 index   r19 far   r30 round number   r16 sum
    .machine power10
    .abiversion 2
    .section .text,"ax"
    .globl _start
_start:
    lis     20, data@h
    ori     20, 20, data@l
    lis     21, walk@h
    ori     21, 21, walk@l
    lis     19, far@h
    ori     19, 19, far@l
    li      30, 0
    li      16, 0
round:
    sldi    22, 30, 4
    andi.   22, 22, 0xff0
at_ld:
    ld      3, 0(20)
at_std:
    std     3, 8(20)
at_lwa:
    lwa     4, 16(20)
at_sth:
    sth     4, 22(20)
at_ldx:
    ldx     5, 20, 22
at_stbx:
    stbx    5, 20, 22
at_ldu:
    ldu     6, WALK_STEP(21)
at_std_walk:
    std     6, 0(21)

    // The access crosses the end of a page.
at_cross_ld:
    ld      7, 4092(20)
at_cross_stw:
    stw     7, 4094(20)
at_cross_lhz:
    lhz     8, 4095(20)

    // Prefixed instructions have eight bytes; the assembler keeps them inside 64-byte blocks.
at_pld:
    pld     9, 0x12348(20)
at_plwz:
    plwz    10, pcrel_word@pcrel
    paddi   11, 20, 0x23456
at_pstd:
    pstd    9, 0x12350(20)
at_pstb:
    pstb    10, 0x2345f(20)

    li      14, INNER
    mtctr   14
inner:
at_inner:
    lbzx    15, 20, 22
    add     16, 16, 15
    bdnz    inner
inner_end:
    bl      near
after_near:
    mtctr   19
    bctrl
after_far:
    andi.   17, 30, 1
    beq     even
odd:
    xori    16, 16, 1
    addi    16, 16, 3
even:
    andi.   17, 30, 63
    bne     no_call
call:
    li      0, 20                   // getpid
    sc
no_call:
    addi    30, 30, 1
    cmpwi   30, ROUNDS
    bne     round
leave:
    li      0, 1                    // exit
    li      3, 0
    sc
leave_end:
    trap

near:
at_near_std:
    std     16, 24(20)
at_near_ld:
    ld      18, 32(20)
    blr
near_end:

    .balign 65536                   // on a separate page
far:
    addi    16, 16, 1
at_far_lwzx:
    lwzx    18, 20, 22
    blr
far_end:

    .data
    .balign 65536
data:
    .fill   0x24000, 1, 0x5a
pcrel_word:
    .long   7

    // Pages that the program accesses for the first time during the run.
    .bss
    .balign 65536
walk:
    .space  WALK_STEP * (ROUNDS + 1)

    .section .note.GNU-stack,"",@progbits
