"""Drives a Prism Central with Nutanix's own clients, and says in JSON what they saw.

Run by an interpreter of its own, because those clients need libraries that are older than ours:
`client_driver.py HOST PORT USER PASSWORD CLUSTER SUBNET IMAGE`.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

import ntnx_clustermgmt_py_client as clustermgmt
import ntnx_networking_py_client as networking
import ntnx_prism_py_client as prism
import ntnx_vmm_py_client as vmm
from ntnx_vmm_py_client.models.vmm.v4.ahv.config import (
    CloudInit,
    ClusterReference,
    DataSource,
    Disk,
    DiskAddress,
    DiskBusType,
    GuestCustomizationParams,
    ImageReference,
    LegacyBoot,
    Nic,
    NicNetworkInfo,
    NicType,
    SubnetReference,
    Userdata,
    Vm,
    VmDisk,
)
from ntnx_vmm_py_client.models.vmm.v4.content import Image, ImageType, UrlSource

HOST, PORT, USER, PASSWORD, CLUSTER, SUBNET, IMAGE = sys.argv[1:]
MOST_LOOKS = 30


def client(package: Any) -> Any:
    configuration = package.Configuration()
    configuration.scheme, configuration.host, configuration.port = "http", HOST, int(PORT)
    configuration.username, configuration.password = USER, PASSWORD
    configuration.max_retry_attempts = 0
    return package.ApiClient(configuration=configuration)


VMM = client(vmm)
VMS, IMAGES = vmm.VmApi(VMM), vmm.ImagesApi(VMM)
TASKS = prism.TasksApi(client(prism))
SUBNETS = networking.SubnetsApi(client(networking))
CLUSTERS = clustermgmt.ClustersApi(client(clustermgmt))


def finished(answer: Any) -> Any:
    """The task that an answer names, once it is over."""
    for _ in range(MOST_LOOKS):
        task = TASKS.get_task_by_id(answer.data.ext_id).data
        if task.status in ("SUCCEEDED", "FAILED"):
            return task
    raise SystemExit("the task does not end")


def read(vm: str) -> tuple[Any, str]:
    answer = VMS.get_vm_by_id(vm)
    return answer.data, vmm.ApiClient.get_etag(answer)


def wanted() -> Any:
    reference = ImageReference.ImageReference(image_ext_id=IMAGE)
    disk = VmDisk.VmDisk(disk_size_bytes=20 * 2**30, data_source=DataSource.DataSource(reference=reference))
    address = DiskAddress.DiskAddress(bus_type=DiskBusType.DiskBusType.SCSI, index=0)
    network = NicNetworkInfo.NicNetworkInfo(
        nic_type=NicType.NicType.NORMAL_NIC, subnet=SubnetReference.SubnetReference(ext_id=SUBNET)
    )
    script = Userdata.Userdata(value=base64.b64encode(b"#cloud-config\n").decode())
    return Vm.Vm(
        name="driven",
        description="by Nutanix's own client",
        num_sockets=2,
        num_cores_per_socket=1,
        memory_size_bytes=4 * 2**30,
        cluster=ClusterReference.ClusterReference(ext_id=CLUSTER),
        boot_config=LegacyBoot.LegacyBoot(),
        disks=[Disk.Disk(disk_address=address, backing_info=disk)],
        nics=[Nic.Nic(network_info=network)],
        guest_customization=GuestCustomizationParams.GuestCustomizationParams(
            config=CloudInit.CloudInit(datasource_type="CONFIG_DRIVE_V2", cloud_init_script=script)
        ),
    )


def drive() -> dict[str, Any]:
    seen: dict[str, Any] = {}
    made = finished(VMS.create_vm(wanted()))
    vm = next(one.ext_id for one in made.entities_affected if one.rel == "vmm:ahv:config:vm")
    seen["made"] = made.status
    shown, etag = read(vm)
    seen["read"] = [shown.name, shown.num_sockets, shown.memory_size_bytes, shown.power_state]
    seen["disk"] = shown.disks[0].backing_info.disk_size_bytes
    seen["on"] = finished(VMS.power_on_vm(vm, if_match=etag)).status
    for _ in range(MOST_LOOKS):
        shown, etag = read(vm)
        info = shown.nics[0].network_info.ipv4_info
        if info is not None and len(info.learned_ip_addresses) > 1:
            break
    seen["addresses"] = [one.value for one in info.learned_ip_addresses]
    seen["listed"] = [one.name for one in VMS.list_vms(_filter="name eq 'driven'", _limit=10).data]
    seen["running"] = shown.power_state
    seen["off"] = finished(VMS.power_off_vm(vm, if_match=etag)).status
    shown, etag = read(vm)
    seen["stopped"] = shown.power_state
    seen["stale"] = refusal(lambda: VMS.delete_vm_by_id(vm, if_match="stale"))
    seen["deleted"] = finished(VMS.delete_vm_by_id(vm, if_match=etag)).status
    seen["gone"] = refusal(lambda: VMS.get_vm_by_id(vm))
    return seen


def images() -> list[str]:
    source = UrlSource.UrlSource(url="https://factory.example.com/image/talos.qcow2")
    image = Image.Image(name="brought", type=ImageType.ImageType.DISK_IMAGE, source=source)
    made = finished(IMAGES.create_image(image))
    uuid = next(one.ext_id for one in made.entities_affected if one.rel == "vmm:content:image")
    answer = IMAGES.get_image_by_id(uuid)
    etag = vmm.ApiClient.get_etag(answer)
    return [made.status, answer.data.name, finished(IMAGES.delete_image_by_id(uuid, if_match=etag)).status]


def around() -> dict[str, Any]:
    return {
        "clusters": [one.name for one in CLUSTERS.list_clusters(_limit=100).data],
        "hosts": len(CLUSTERS.list_hosts_by_cluster_id(CLUSTER).data),
        "subnet": SUBNETS.get_subnet_by_id(SUBNET).data.network_id,
    }


def refusal(call: Callable[[], Any]) -> list[Any]:
    """The status code and the words of an error that the client understands."""
    try:
        call()
    except vmm.rest.ApiException as error:
        said = json.loads(error.body)["data"]["error"][0]
        return [error.status, said["errorGroup"]]
    return [200, ""]


json.dump({"vm": drive(), "image": images(), **around()}, sys.stdout)
