#!/usr/bin/env bash
# The guests' kernel, initrd and root: $LAB/guest/{vmlinux,initrd.cpio,root.img}, made once, then cached.
# usage: lab/guest/image.sh   (LAB: ~/.cache/railwright-lab). Needs root, busybox-static, debootstrap; fetches about 145 MB.
#
# The root is the hosts' own (lab/rootfs.sh) with the packages of a host that has real RDMA on top. The kernel is Debian's: its
# modules beside it, and dcbsim compiled in a second layer, whose compiler never gets into the image.
set -euo pipefail
# In namespaces of its own: mounts and programs end with it, however it ends, and it ends with whoever wanted it.
[ "${OWN_NAMESPACES-}" = "$0" ] || OWN_NAMESPACES=$0 exec setpriv --pdeathsig KILL \
  unshare --mount --pid --fork --kill-child --propagation private bash "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
umask 022
export LAB=${LAB:-$HOME/.cache/railwright-lab} LC_ALL=C DEBIAN_FRONTEND=noninteractive
packages="ethtool ibverbs-utils ibverbs-providers perftest rdma-core rdmacm-utils infiniband-diags numactl iputils-ping"
mkdir -p "$LAB"
exec 9>"$LAB/guest.lock"
flock 9 # two tests may want it at once
bash "$here/../rootfs.sh"
out=$LAB/guest work=$LAB/guest.making
made_of=$(cat "$LAB/rootfs/.made-of" "$LAB/key.pub" "$LAB"/rootfs/etc/ssh/ssh_host_*.pub "$here"/{image.sh,init,initrd,reboot,dcbsim/*} /bin/busybox | sha256sum)
[ "$(cat "$out/.made-of" 2>/dev/null)" = "$made_of" ] && exit 0

mkdir -p "$work"
mount -t tmpfs -o size=4g tmpfs "$work"
cd "$work"
exec 3>&1 >"$LAB/guest.log" 2>&1
mkdir -p "$LAB/guest.debs/partial" # kept until the image is made: a second try goes on where the first ended

layer() { # layer NAME LOWER...: a root of its own, in memory
  mkdir -p "$1"/{u,w,m}
  local IFS=:
  mount -t overlay overlay -o "lowerdir=${*:2},upperdir=$work/$1/u,workdir=$work/$1/w" "$1/m"
  mount -t proc proc "$1/m/proc"
  mount --bind "$LAB/guest.debs" "$1/m/var/cache/apt/archives"
}

layer root "$LAB/rootfs"
chroot root/m apt-get update -q
# shellcheck disable=SC2086
chroot root/m apt-get install -y -q --no-install-recommends $packages
# Never a glob: it would fetch every build of the kernel.
kernel=$(chroot root/m apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-[0-9]/{print $2; exit}')
version=${kernel#linux-image-}
chroot root/m sh -c "cd /var/cache/apt/archives && apt-get download -q $kernel"
mkdir image
dpkg-deb -x "$LAB/guest.debs/$kernel"_*.deb image

layer compiler "$work/root/u" "$LAB/rootfs"
chroot compiler/m apt-get install -y -q --no-install-recommends make "linux-headers-$version"
cp -r "$here/dcbsim" compiler/m/tmp/
chroot compiler/m make -C "/lib/modules/$version/build" M=/tmp/dcbsim modules

from=image/lib/modules/$version to=root/m/lib/modules/$version
mkdir -p "$to"/{kernel,extra}
# rdma_cm needs fs/configfs.
for part in drivers/net/{virtio_net,net_failover}.ko drivers/infiniband/{core,sw,ulp/ipoib} drivers/virtio drivers/block/virtio_blk.ko \
  drivers/char/hw_random net/{sched,802,ipv4,ipv6,core} fs/{ext4,jbd2,mbcache.ko,overlayfs,configfs} lib crypto arch; do
  [ -e "$from/kernel/$part" ] || continue
  mkdir -p "$to/kernel/$(dirname "$part")"
  cp -a "$from/kernel/$part" "$to/kernel/$(dirname "$part")/"
done
cp "$from"/modules.{builtin,builtin.modinfo,order} "$to"/
cp compiler/m/tmp/dcbsim/dcbsim.ko "$to/extra/"
chroot root/m depmod "$version"

mkdir done initrd initrd/{bin,modules}
cp /bin/busybox initrd/bin/
install -m755 "$here/initrd" initrd/init
number=10 # the order in which they are loaded; the initrd sorts by name
for module in virtio_pci virtio_blk ext4 overlay; do
  chroot root/m modprobe -S "$version" --show-depends $module | awk '$1=="insmod"{print $2}'
done | awk '!seen[$0]++' | grep -v crc32c-intel | while read -r path; do
  cp "root/m$path" "initrd/modules/$number-$(basename "$path")"
  number=$((number + 1))
done
(cd initrd && find . | busybox cpio -o -H newc) >done/initrd.cpio

# An uncompressed kernel, booted by PVH, halves the time to boot under emulation.
python3 - "image/boot/vmlinuz-$version" done/vmlinux <<'PYTHON'
import lzma, sys
packed = open(sys.argv[1], "rb").read()
start = packed.find(b"\xfd7zXZ\x00")
open(sys.argv[2], "wb").write(lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(packed[start:]))
PYTHON

install -m755 "$here/init" root/m/usr/sbin/lab-init
install -m755 "$here/reboot" root/m/usr/sbin/reboot
cp /bin/busybox root/m/usr/bin/busybox
umount {compiler,root}/m/{proc,var/cache/apt/archives}
rm -rf root/m/var/cache/apt/* root/m/var/lib/apt/lists/* root/m/usr/share/{doc,locale,man}
mkfs.ext4 -q -O ^has_journal -m 0 -d root/m done/root.img 800M
# Beside the old one, which guests that run have open.
rm -rf "$out.new"
mkdir "$out.new"
cp --sparse=always done/* "$out.new/"
printf '%s\n' "$made_of" >"$out.new/.made-of"
rm -rf "$out" "$LAB/guest.debs"
mv "$out.new" "$out"
cd /
umount -R "$work"
rmdir "$work"
ls -lsh "$out" >&3
