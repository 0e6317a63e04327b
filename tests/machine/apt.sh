# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# Fetches Debian packages of any release and architecture without root. Each group of suites has an
# apt state of its own (with an empty package database), so this system's apt is not touched, and a
# broken index hides no other package. Scripts source this file after paths.sh.
#
# DEBIAN_MIRROR names another mirror, DEBIAN_KEYRING the keys that sign its indexes.

apt_keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
apt_state=$cache/apt
# A mirror that is being synchronized may be consistent again a few seconds later.
apt_attempts=3
apt_pause_seconds=${APT_PAUSE_SECONDS:-4}
# Debian 12 is first because the guest has its C library. Backports are last.
foreign_suites=(bookworm trixie bookworm-backports trixie-backports)

# Prints the Debian mirror of this system's own apt.
apt_mirror() {
    local mirror
    # shellcheck disable=SC2016
    mirror=${DEBIAN_MIRROR:-$(env -u APT_CONFIG apt-get indextargets --format '$(SITE) $(RELEASE)' \
        'Created-By: Packages' |
        awk '$2 ~ /^(bookworm|trixie|oldoldstable|oldstable|stable)$/ { print $1; exit }')}
    echo "${mirror:-http://deb.debian.org/debian}"
}

# apt_open ARCHITECTURE SUITE...: make apt see only the packages of these suites for this architecture.
# Skips a suite if apt cannot download its index. apt's messages are in $apt_log.
apt_open() {
    local architecture=$1 suite mirror folder http='' https=''
    shift
    folder=$apt_state/$architecture.$(IFS=+ && echo "$*")
    apt_log=$folder/log
    [[ ! -e $folder/updated ]] || { export APT_CONFIG=$folder/apt.conf && return; }
    mirror=$(apt_mirror)
    # With file:, apt would not copy packages into its cache.
    mirror=${mirror/#file:/copy:}
    eval "$(env -u APT_CONFIG apt-config shell http Acquire::http::Proxy https Acquire::https::Proxy)"
    rm -rf "$folder"
    mkdir -p "$folder"/{etc/preferences.d,etc/apt.conf.d,state/lists/partial,cache/archives/partial}
    : >"$folder/status"
    for suite in "$@"; do
        echo "deb [arch=$architecture signed-by=$apt_keyring] $mirror $suite main"
    done >"$folder/etc/sources.list"
    # The sandbox user may not be able to write here, so apt keeps the caller's identity.
    cat >"$folder/apt.conf" <<EOT
APT::Architecture "amd64"; APT::Architectures { "amd64"; "ppc64el"; };
Dir "$folder"; Dir::Etc "$folder/etc"; Dir::Etc::sourcelist "$folder/etc/sources.list";
Dir::Etc::sourceparts "-"; Dir::State "$folder/state"; Dir::State::status "$folder/status";
Dir::Cache "$folder/cache"; APT::Install-Recommends "false"; Acquire::Languages "none";
Acquire::Retries "3"; Debug::NoLocking "true"; APT::Sandbox::User "";
Acquire::http::Proxy "$http"; Acquire::https::Proxy "$https";
EOT
    export APT_CONFIG=$folder/apt.conf
    # A failure matters only if a package is then missing, which the caller detects.
    apt-get -qq update >"$apt_log" 2>&1 || true
    : >"$folder/updated"
}

# apt_missing PACKAGE ARCHITECTURE SUITE...: report the missing package, the reason and a hint.
apt_missing() {
    local package=$1 architecture=$2
    shift 2
    {
        echo "cannot fetch the Debian package $package: no index of $* for $architecture lists the package"
        echo "  mirror: $(apt_mirror)"
        for suite in "$@"; do cat "$apt_state/$architecture".*"$suite"*/log 2>/dev/null || true; done |
            grep '^[EW]:' | sort -u | head -n 6 | sed 's/^/  apt: /' || true
        echo "  hint: set DEBIAN_MIRROR=URL to another Debian mirror and run the command again"
    } >&2
}

# apt_persist FETCH PACKAGE ARCHITECTURE SUITE...: run FETCH up to three times, each time with new indexes.
apt_persist() {
    local fetch=$1 attempt
    shift
    for ((attempt = 1; attempt <= apt_attempts; attempt++)); do
        ((attempt == 1)) || sleep "$apt_pause_seconds"
        if "$fetch"; then return; fi
        rm -f "$apt_state"/*/updated
    done
    apt_missing "$@"
    return 1
}

# apt_closure FOLDER PACKAGE...: unpack packages of trixie-backports for this machine, with all their
# dependencies, into FOLDER.
apt_closure() {
    local folder=$1 suites=(trixie trixie-backports) packages deb
    shift
    packages=("$@")
    download_closure() {
        apt_open amd64 "${suites[@]}"
        apt-get -qq -y -t trixie-backports --download-only install "${packages[@]}" >>"$apt_log" 2>&1
    }
    apt_persist download_closure "$*" amd64 "${suites[@]}" || return
    mkdir -p "$folder"
    for deb in "${APT_CONFIG%/*}"/cache/archives/*.deb; do dpkg -x "$deb" "$folder"; done
    rm -f "${APT_CONFIG%/*}"/cache/archives/*.deb
}

# apt_single FOLDER PACKAGE SUITE...: fetch the package's file from the first suite that has it, verify
# the file, and move it into FOLDER. PACKAGE:ppc64el names a package of that architecture.
apt_single() {
    local folder=$1 package=$2 architecture=amd64 single=$apt_state/single
    shift 2
    [[ $package != *:* ]] || architecture=${package#*:}
    local suites=("$@")
    download_single() {
        local suite
        for suite in "${suites[@]}"; do
            apt_open "$architecture" "$suite"
            rm -rf "$single"
            mkdir -p "$single"
            if (cd "$single" && apt-get -qq download "$package") >>"$apt_log" 2>&1; then return; fi
        done
        return 1
    }
    apt_persist download_single "$package" "$architecture" "${suites[@]}" || return
    mkdir -p "$folder"
    mv "$single"/*.deb "$folder/"
}
