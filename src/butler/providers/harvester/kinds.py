"""The kinds of Harvester's API that machines are made of."""

from __future__ import annotations

from kubekit.model.resource import Address

VIRTUAL_MACHINE = Address("kubevirt.io", "v1", "VirtualMachine", "virtualmachines", namespaced=True)
INSTANCE = Address("kubevirt.io", "v1", "VirtualMachineInstance", "virtualmachineinstances", namespaced=True)
DATA_VOLUME = Address("cdi.kubevirt.io", "v1beta1", "DataVolume", "datavolumes", namespaced=True)
IMAGE = Address("harvesterhci.io", "v1beta1", "VirtualMachineImage", "virtualmachineimages", namespaced=True)
SETTING = Address("harvesterhci.io", "v1beta1", "Setting", "settings", namespaced=False)
NETWORK = Address(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions", namespaced=True
)
CLAIM = Address("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced=True)
SECRET = Address("", "v1", "Secret", "secrets", namespaced=True)
QUOTA = Address("", "v1", "ResourceQuota", "resourcequotas", namespaced=True)
NODE = Address("", "v1", "Node", "nodes", namespaced=False)
STORAGE_CLASS = Address("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)
ACCESS_REVIEW = Address(
    "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
