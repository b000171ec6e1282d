"""Machines of Nutanix AHV, by way of Prism Central."""
