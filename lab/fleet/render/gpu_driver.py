"""/proc/driver/nvidia/params: options of the GPU driver as it runs.

Names and order: nv-reg.h and nv-procfs.c of NVIDIA's open kernel modules, release 570; the numbers
first, then the texts.
"""

from lab.fleet.model import HostModel

USUAL = {
    "ResmanDebugLevel": "4294967295",
    "RmLogonRC": "1",
    "ModifyDeviceFiles": "1",
    "DeviceFileUID": "0",
    "DeviceFileGID": "0",
    "DeviceFileMode": "438",
    "InitializeSystemMemoryAllocations": "1",
    "UsePageAttributeTable": "4294967295",
    "EnableMSI": "1",
    "EnablePCIeGen3": "0",
    "MemoryPoolSize": "0",
    "EnableStreamMemOPs": "0",
    "EnableUserNUMAManagement": "1",
    "DmaRemapPeerMmio": "1",
    "EnablePCIERelaxedOrderingMode": "0",
    "EnableResizableBar": "0",
    "EnableGpuFirmware": "18",
    "GrdmaPciTopoCheckOverride": "0",
    "RegistryDwords": '""',
    "RegistryDwordsPerDevice": '""',
    "RmMsg": '""',
    "GpuBlacklist": '""',
    "TemporaryFilePath": '""',
    "ExcludedGpus": '""',
}


def files(host: HostModel) -> dict[str, str]:
    """Only where the driver is loaded."""
    if "nvidia" not in {*host.modules, *(module.name for module in host.kernel.modules)}:
        return {}
    options = USUAL | dict(host.kernel.gpu_driver_options)
    text = "".join(f"{name}: {value}\n" for name, value in options.items())
    return {"/proc/driver/nvidia/params": text}
