#!/usr/bin/env bash
# The root file system of every test host: Debian with sshd, Python, sudo, Slurm and the usual shells.
# usage: lab/rootfs.sh [DIR]   (default $LAB or ~/.cache/railwright-lab). About 70 s, then cached.
set -euo pipefail
# In namespaces of its own: mounts and programs end with it, however it ends, and it ends with whoever wanted it.
[ "${OWN_NAMESPACES-}" = "$0" ] || OWN_NAMESPACES=$0 exec setpriv --pdeathsig KILL \
  unshare --mount --pid --fork --kill-child --propagation private bash "$0" "$@"
unset TMPDIR # of this machine: within the new root there is no such folder, and packages would not install
lab=${1:-${LAB:-$HOME/.cache/railwright-lab}}
packages="iproute2 openssh-server lldpd python3 pciutils mstflint procps sudo tcsh fish kmod slurm-wlm munge strace"
mkdir -p "$lab"
cd "$lab"
exec 8>rootfs.lock
flock 8 # two tests may want it at once
[ -f rootfs/.made-of ] && [ "$(cat rootfs/.made-of)" = "$packages" ] && exit 0
# The mirror that this machine's own apt is set up with.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' | awk '$2=="bookworm" && $3=="main"{print $1; exit}')
new=rootfs.new
rm -rf $new
debootstrap --variant=minbase bookworm $new "$mirror" >rootfs.log 2>&1
printf '#!/bin/sh\nexit 101\n' >$new/usr/sbin/policy-rc.d # no service starts at install time
chmod +x $new/usr/sbin/policy-rc.d
cp /etc/resolv.conf $new/etc/
cp /etc/apt/apt.conf.d/* $new/etc/apt/apt.conf.d/ 2>/dev/null || true
mount -t proc proc $new/proc
chroot $new apt-get update -q >>rootfs.log 2>&1
# shellcheck disable=SC2086
LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot $new apt-get install -y -q --no-install-recommends $packages >>rootfs.log 2>&1
umount $new/proc
[ -f key ] || ssh-keygen -q -t ed25519 -N '' -f key
chroot $new useradd -m -s /bin/bash reader
chroot $new usermod -p "*" reader
for home in root home/reader; do
  mkdir -p $new/$home/.ssh
  cp key.pub $new/$home/.ssh/authorized_keys
  chmod 700 $new/$home/.ssh
done
chroot $new chown -R reader:reader /home/reader
rm -f $new/etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -C test-host -f $new/etc/ssh/ssh_host_ed25519_key
cat >$new/etc/ssh/sshd_config.d/lab.conf <<'C'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100:30:200
C
rm -rf $new/var/cache/apt/archives/*.deb $new/var/lib/apt/lists/*
printf '%s' "$packages" >$new/.made-of
rm -rf rootfs
mv $new rootfs
