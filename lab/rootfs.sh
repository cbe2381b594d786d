#!/usr/bin/env bash
# The root file system of every test host: Debian with sshd, Python, sudo, Slurm and the usual shells.
# usage: lab/rootfs.sh [DIR]   (default $LAB or ~/.cache/railwright-lab). About 70 s, then cached.
set -euo pipefail
lab=${1:-${LAB:-$HOME/.cache/railwright-lab}}
packages="iproute2 openssh-server lldpd python3 pciutils mstflint procps sudo tcsh fish kmod slurm-wlm munge strace"
stamp="$lab/rootfs/.made-of"
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$packages" ] && exit 0
mkdir -p "$lab"
cd "$lab"
# The mirror that this machine's own apt is set up with.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' | awk '$2=="bookworm" && $3=="main"{print $1; exit}')
rm -rf rootfs
debootstrap --variant=minbase bookworm rootfs "$mirror" >rootfs.log 2>&1
printf '#!/bin/sh\nexit 101\n' >rootfs/usr/sbin/policy-rc.d # no service starts at install time
chmod +x rootfs/usr/sbin/policy-rc.d
cp /etc/resolv.conf rootfs/etc/
cp /etc/apt/apt.conf.d/* rootfs/etc/apt/apt.conf.d/ 2>/dev/null || true
mount -t proc proc rootfs/proc
trap 'umount rootfs/proc 2>/dev/null || true' EXIT
chroot rootfs apt-get update -q >>rootfs.log 2>&1
# shellcheck disable=SC2086
LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot rootfs apt-get install -y -q --no-install-recommends $packages >>rootfs.log 2>&1
umount rootfs/proc
trap - EXIT
[ -f key ] || ssh-keygen -q -t ed25519 -N '' -f key
chroot rootfs useradd -m -s /bin/bash reader
chroot rootfs usermod -p "*" reader
for home in root home/reader; do
  mkdir -p rootfs/$home/.ssh
  cp key.pub rootfs/$home/.ssh/authorized_keys
  chmod 700 rootfs/$home/.ssh
done
chroot rootfs chown -R reader:reader /home/reader
rm -f rootfs/etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -C test-host -f rootfs/etc/ssh/ssh_host_ed25519_key
cat >rootfs/etc/ssh/sshd_config.d/lab.conf <<'C'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100:30:200
C
rm -rf rootfs/var/cache/apt/archives/*.deb rootfs/var/lib/apt/lists/*
printf '%s' "$packages" >"$stamp"
