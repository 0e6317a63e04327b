# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Where the parts of the emulated machine are. Sourced by the scripts of this folder.

machine=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$machine/../.." && pwd)

# Shared by all work trees: what is downloaded, and what takes minutes to build.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/htmtrace
downloads=$cache/downloads
libzstd=$cache/libzstd-ppc64le
qemu=$cache/qemu/qemu-system-ppc64
# ccache keeps compiler output here, so a fresh clone compiles only changed files. CCACHE_BASEDIR lets work trees in
# different folders share this output. With NODIRECT, ccache notices that __has_include finds a new header.
export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$repository CCACHE_NODIRECT=1
compiler_cache=(-D CMAKE_C_COMPILER_LAUNCHER=ccache -D CMAKE_CXX_COMPILER_LAUNCHER=ccache)
# Of Linux 7, for this machine.
perf=$cache/perf/perf
# Programs of Debian 12.
prometheus=$cache/prometheus/usr/bin/prometheus
promtool=$cache/prometheus/usr/bin/promtool
node_exporter=$cache/prometheus/usr/bin/prometheus-node-exporter

# Built from this work tree's sources.
build=$repository/build-machine
host_build=$repository/build-release
cross_build=$repository/build-ppc64le
hypervisor=$build/plugin/hypervisor.so
# Tests of the packages set HTMTRACE and GUEST_HTMTRACE to the installed programs. The guest's program is static.
htmtrace=${HTMTRACE:-$host_build/cli/htmtrace}
guest_htmtrace=${GUEST_HTMTRACE:-$cross_build/cli/htmtrace}

cross=powerpc64le-linux-gnu-
# For the debug kernel and its modules: before everything else in PATH, with the same prefix.
gcc14=$cache/gcc-14/files/usr/bin

# A changed configuration or recipe asks for another folder, so that it is built anew.
key_of() {
    cat "$@" | sha256sum | cut -c1-12
}
kernel=$cache/kernel-$(key_of "$machine"/guest/{kernel.config,disk.config,build-kernel,compile})
debug_kernel=$cache/kernel-debug-$(key_of "$machine"/guest/{kernel.config,debug.config,build-kernel,compile})
oldest_kernel=$cache/kernel-oldest-$(key_of "$machine"/guest/{kernel.config,oldest.config,build-kernel,compile})
# The normal kernel with the htm driver built in, from this work tree's sources.
builtin_kernel=$build/kernel-builtin
initramfs=$cache/initramfs-$(key_of "$machine/guest/init" "$machine/guest/build-initramfs").cpio.gz
