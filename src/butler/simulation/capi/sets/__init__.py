"""Machines of Cluster API in numbers: MachineSets and MachineDeployments."""
