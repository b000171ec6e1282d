"""The volume that machines boot with is one that other programs read."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from ctypes.util import find_library
from pathlib import Path

import pytest

from butler.providers.contract import MachineOrder
from butler.providers.proxmox import boot_volume
from butler.providers.proxmox.iso import image
from tests.providers.proxmox.harness import read_iso

FILES = {
    "user-data": b"#cloud-config\n" + b"x" * 5000,
    "meta-data": b"{}\n",
    "network-config": b"",
    "a-name-that-has-nearly-as-many-letters-as-there-may-be.yaml": b"\0\xff" * 3000,
}


def test_what_goes_in_comes_out() -> None:
    assert read_iso(image("cidata", FILES)) == FILES


def test_the_same_files_give_the_same_image() -> None:
    assert image("cidata", FILES) == image("cidata", dict(reversed(FILES.items())))


@pytest.mark.skipif(shutil.which("blkid") is None, reason="there is no blkid")
def test_blkid_sees_the_label(tmp_path: Path) -> None:
    file = tmp_path / "cidata.iso"
    file.write_bytes(image("cidata", FILES))
    told = subprocess.run(["blkid", "-p", "-o", "export", file], capture_output=True, text=True, check=True).stdout
    assert {"LABEL=cidata", "TYPE=iso9660"} <= set(told.split())


@pytest.mark.skipif(find_library("archive") is None, reason="there is no libarchive")
@pytest.mark.parametrize("without", ["!joliet", "!rockridge"])
def test_libarchive_reads_the_files_either_way(tmp_path: Path, without: str) -> None:
    file = tmp_path / "cidata.iso"
    file.write_bytes(image("cidata", FILES))
    assert _read_by_libarchive(file, without) == FILES


def test_an_order_becomes_what_cloud_init_and_talos_read() -> None:
    order = MachineOrder("web", "t", 1, 1024, 10, user_data="#cloud-config\n", network_data="version: 2\n")
    files = read_iso(boot_volume.volume(order, "11111111-2222-4333-8444-555555555555"))
    assert files["user-data"] == b"#cloud-config\n"
    assert files["network-config"] == b"version: 2\n"
    assert json.loads(files["meta-data"]) == {
        "instance-id": "11111111-2222-4333-8444-555555555555",
        "local-hostname": "web",
        "hostname": "web",
    }


def test_without_network_data_there_is_no_network_config() -> None:
    order = MachineOrder("web", "t", 1, 1024, 10)
    assert set(read_iso(boot_volume.volume(order, "id"))) == {"user-data", "meta-data"}


def _read_by_libarchive(file: Path, option: str) -> dict[str, bytes]:
    library = ctypes.CDLL(find_library("archive"))
    library.archive_read_new.restype = ctypes.c_void_p
    library.archive_entry_pathname.restype = ctypes.c_char_p
    library.archive_read_data.restype = ctypes.c_ssize_t
    archive, entry, found = ctypes.c_void_p(library.archive_read_new()), ctypes.c_void_p(), {}
    try:
        library.archive_read_support_format_iso9660(archive)
        assert library.archive_read_set_options(archive, f"iso9660:{option}".encode()) == 0
        assert library.archive_read_open_filename(archive, str(file).encode(), ctypes.c_size_t(10240)) == 0
        while library.archive_read_next_header(archive, ctypes.byref(entry)) == 0:
            name, content = library.archive_entry_pathname(entry), ctypes.create_string_buffer(1 << 16)
            size = library.archive_read_data(archive, content, ctypes.c_size_t(len(content)))
            if name != b".":
                found[name.decode()] = content.raw[:size]
    finally:
        library.archive_read_free(archive)
    return found
