// SPDX-License-Identifier: GPL-2.0
/*
 * Gives network devices that have no DCB of their own (virtio) the IEEE operations of one, so that
 * the kernel's real dcbnl interface and the real `dcb` command work on them. It keeps state and
 * does nothing with it: no frame is paused, none is scheduled. For the lab's guests only.
 *
 * insmod dcbsim.ko devices=rail0,rail1
 *
 * The maps of DSCP and priorities (dcb app) are kept by the kernel itself.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

#define MOST_DEVICES 8
#define CLASSES 8
#define TOTAL_BUFFER 262016

static char *devices = "eth1";
module_param(devices, charp, 0444);

struct port {
	struct net_device *device;
	const struct dcbnl_rtnl_ops *before;
	struct ieee_pfc pfc;
	struct ieee_ets ets;
	struct ieee_maxrate rate;
	struct dcbnl_buffer buffer;
};

static struct port ports[MOST_DEVICES];
static int count;

static struct port *find(struct net_device *device)
{
	int i;

	for (i = 0; i < count; i++)
		if (ports[i].device == device)
			return &ports[i];
	return NULL;
}

static int get_pfc(struct net_device *device, struct ieee_pfc *pfc)
{
	*pfc = find(device)->pfc;
	return 0;
}

static int set_pfc(struct net_device *device, struct ieee_pfc *pfc)
{
	struct port *port = find(device);

	port->pfc.pfc_en = pfc->pfc_en;
	port->pfc.delay = pfc->delay;
	port->pfc.mbc = pfc->mbc;
	return 0;
}

static int get_ets(struct net_device *device, struct ieee_ets *ets)
{
	*ets = find(device)->ets;
	return 0;
}

static int set_ets(struct net_device *device, struct ieee_ets *ets)
{
	struct port *port = find(device);
	u8 most = port->ets.ets_cap;

	port->ets = *ets;
	port->ets.ets_cap = most;
	return 0;
}

static int get_rate(struct net_device *device, struct ieee_maxrate *rate)
{
	*rate = find(device)->rate;
	return 0;
}

static int set_rate(struct net_device *device, struct ieee_maxrate *rate)
{
	find(device)->rate = *rate;
	return 0;
}

static int get_buffer(struct net_device *device, struct dcbnl_buffer *buffer)
{
	*buffer = find(device)->buffer;
	return 0;
}

static int set_buffer(struct net_device *device, struct dcbnl_buffer *buffer)
{
	struct port *port = find(device);
	u32 total = port->buffer.total_size;

	port->buffer = *buffer;
	port->buffer.total_size = total;
	return 0;
}

static u8 get_dcbx(struct net_device *device)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 set_dcbx(struct net_device *device, u8 mode)
{
	return mode != get_dcbx(device);
}

static const struct dcbnl_rtnl_ops operations = {
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getmaxrate = get_rate,
	.ieee_setmaxrate = set_rate,
	.dcbnl_getbuffer = get_buffer,
	.dcbnl_setbuffer = set_buffer,
	.getdcbx = get_dcbx,
	.setdcbx = set_dcbx,
};

static void take(struct net_device *device)
{
	struct port *port = &ports[count];
	int i;

	port->device = device;
	port->before = device->dcbnl_ops;
	port->pfc.pfc_cap = CLASSES;
	port->ets.ets_cap = CLASSES;
	for (i = 0; i < CLASSES; i++) {
		port->ets.prio_tc[i] = i;
		port->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_STRICT;
	}
	port->buffer.total_size = TOTAL_BUFFER;
	port->buffer.buffer_size[0] = TOTAL_BUFFER;
	count++;
	rtnl_lock();
	device->dcbnl_ops = &operations;
	rtnl_unlock();
}

static int __init dcbsim_start(void)
{
	char *copy = kstrdup(devices, GFP_KERNEL), *rest = copy, *name;

	while ((name = strsep(&rest, ",")) && count < MOST_DEVICES) {
		struct net_device *device = dev_get_by_name(&init_net, name);

		if (device)
			take(device);
	}
	kfree(copy);
	return count ? 0 : -ENODEV;
}

static void __exit dcbsim_end(void)
{
	int i;

	rtnl_lock();
	for (i = 0; i < count; i++)
		ports[i].device->dcbnl_ops = ports[i].before;
	rtnl_unlock();
	for (i = 0; i < count; i++)
		dev_put(ports[i].device);
}

module_init(dcbsim_start);
module_exit(dcbsim_end);
MODULE_DESCRIPTION("DCB without hardware, for a lab");
MODULE_LICENSE("GPL");
