"""Machines on Proxmox VE."""
