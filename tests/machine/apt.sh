# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Debian packages of another release, without root and without touching this system's apt: an apt
# state of its own (empty package database), indexes verified with Debian's keyring. Sourced by
# setup after paths.sh.

apt_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
apt_state=$cache/apt
apt_opened=''

# The mirror that this system's own apt uses for Debian.
apt_mirror() {
    local mirror
    # shellcheck disable=SC2016
    mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 'Created-By: Packages' |
        awk '$2 == "Debian" { print $1; exit }')}
    echo "${mirror:-http://deb.debian.org/debian}"
}

# apt_open: make the state, read the indexes. Once per run, only when something must be fetched.
# $apt_more: another source.
apt_open() {
    [[ -z $apt_opened ]] || return 0
    local http='' https='' mirror
    mirror=$(apt_mirror)
    eval "$(apt-config shell http Acquire::http::Proxy https Acquire::https::Proxy)"
    rm -rf "$apt_state"
    mkdir -p "$apt_state"/{etc/preferences.d,etc/apt.conf.d,state/lists/partial,cache/archives/partial}
    : >"$apt_state/status"
    # ppc64el only for busybox; backports' ppc64el index is not needed.
    cat >"$apt_state/etc/sources.list" <<EOF
deb [arch=amd64,ppc64el signed-by=$apt_keyring] $mirror trixie main
deb [arch=amd64 signed-by=$apt_keyring] $mirror trixie-backports main
${apt_more:-}
EOF
    # The sandbox user may not be able to write here, so apt keeps the caller's identity.
    cat >"$apt_state/apt.conf" <<EOF
APT::Architecture "amd64"; APT::Architectures { "amd64"; "ppc64el"; };
Dir "$apt_state"; Dir::Etc "$apt_state/etc"; Dir::Etc::sourcelist "$apt_state/etc/sources.list";
Dir::Etc::sourceparts "-"; Dir::State "$apt_state/state"; Dir::State::status "$apt_state/status";
Dir::Cache "$apt_state/cache"; APT::Install-Recommends "false"; Acquire::Languages "none";
Acquire::Retries "3"; Debug::NoLocking "true"; APT::Sandbox::User "";
Acquire::http::Proxy "$http"; Acquire::https::Proxy "$https";
EOF
    export APT_CONFIG=$apt_state/apt.conf
    apt-get -qq update
    apt_opened=1
}

# apt_closure FOLDER PACKAGE...: unpack the packages and all that they depend on into FOLDER.
apt_closure() {
    local folder=$1 deb
    shift
    apt_open
    rm -f "$apt_state"/cache/archives/*.deb
    apt-get -qq -y -t trixie-backports --download-only install "$@"
    mkdir -p "$folder"
    for deb in "$apt_state"/cache/archives/*.deb; do dpkg -x "$deb" "$folder"; done
    rm -f "$apt_state"/cache/archives/*.deb
}

# apt_single FOLDER PACKAGE: the package's file, verified, into FOLDER.
apt_single() {
    apt_open
    mkdir -p "$1"
    rm -rf "$apt_state/single"
    mkdir "$apt_state/single"
    (cd "$apt_state/single" && apt-get -qq download "$2")
    mv "$apt_state"/single/*.deb "$1/"
}
