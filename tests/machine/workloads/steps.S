// SPDX-License-Identifier: GPL-2.0-or-later
// steps - functions in assembly with fixed numbers of instructions, in phases of a fixed order, without a
// library. The symbols are of all kinds: with and without a size, with and without a type, nested symbols,
// two names of one function, a function with a local entry, a label in the middle of an array. Each phase
// has its own array of 64 KiB. At the end the program writes "stop" to descriptor 3, the recorder's file of
// commands, and waits for the signal that ends it. With the macro SLOW, `third` makes four times as many rounds.
//
//   r20 the array of the phase   r3 scratch
    .machine power10
    .abiversion 2
#ifdef SLOW
#define THIRD_ROUNDS 16000
#else
#define THIRD_ROUNDS 4000
#endif

    .macro  function name
    .globl  \name
    .type   \name, @function
\name:
    .endm
    .macro  end name
    .size   \name, . - \name
    .endm

    .section .text,"ax"
function _start
    bl      first
    bl      second
    bl      third
    bl      outer
    bl      untyped_step
    bl      many_ways
    li      0, 4                    // write: ends the recording; the recorder then reads the memory maps
    li      3, 3
    lis     4, stop@h
    ori     4, 4, stop@l
    lbz     5, 0(4)                 // An access by the program, so that it owns the page.
    li      5, 5
    sc
    li      0, 29                   // pause: until the recorder ends this program
    sc
    trap
end _start

// 3 + 4000 * 3 + 1 instructions, 4000 loads of array_first.
function first
    lis     20, array_first@h
    ori     20, 20, array_first@l
    li      3, 4000
    mtctr   3
first_loop:
    lwz     4, 16(20)
    addi    4, 4, 1
    bdnz    first_loop
    blr
end first

// Callers with the same TOC enter after its first two instructions, which never run here.
// 4 + 4000 * 2 + 1 instructions, 4000 stores to array_second.
function second
    addis   2, 12, 0
    addi    2, 2, 0
    .localentry second, 8
    lis     20, array_second@h
    ori     20, 20, array_second@l
    li      3, 4000
    mtctr   3
1:
    stw     3, 32(20)
    bdnz    1b
    blr
end second

// 4 + THIRD_ROUNDS * 2 + 1 instructions; two names.
function third
    lis     20, array_third@h
    ori     20, 20, array_third@l
    li      3, THIRD_ROUNDS
    mtctr   3
2:
    ld      4, 0(20)
    bdnz    2b
    blr
end third
    .globl  third_alias
    .set    third_alias, third

// 3 instructions before `inner`, 3000 * 2 in it, and 4 of `outer` after it.
function outer
    li      3, 3000
    mtctr   3
    nop
function inner
    addi    4, 4, 1
    bdnz    inner
end inner
    nop
    nop
    nop
    blr
end outer

// 2 + 2500 * 2 + 1 instructions, without a type and a size.
    .globl  untyped_step
untyped_step:
    li      3, 2500
    mtctr   3
untyped_loop:
    addi    4, 4, 1
    bdnz    untyped_loop
    blr

// A branch with twelve targets. It goes to target number N, from 1, 40 * N times.
function many_ways
    mflr    31
    lis     21, way_1@h
    ori     21, 21, way_1@l
    li      22, 1                   // the target
next_target:
    mulli   23, 22, 40              // remaining branches to this target
again:
    addi    24, 22, -1
    sldi    24, 24, 3               // two instructions each
    add     24, 24, 21
    mtctr   24
the_branch:
    bctr
way_1:
    .rept   12
    nop
    b       joined
    .endr
joined:
    addi    23, 23, -1
    cmpdi   23, 0
    bne     again
    addi    22, 22, 1
    cmpdi   22, 12
    ble     next_target
    mtlr    31
    blr
end many_ways

    .data
    .macro  array name
    .globl  \name
    .type   \name, @object
    .balign 65536
\name:
    .fill   16, 1, 0x5a
    .globl  \name\()_label
\name\()_label:
    .fill   65520, 1, 0x5a
    .size   \name, . - \name
    .endm
array array_first
array array_second
array array_third
stop:
    .ascii  "stop\n"

    .section .note.GNU-stack,"",@progbits
