#!/usr/bin/env python3
"""An independent writer of NVMe/TCP PDUs, after the NVMe TCP Transport Specification 1.0, 3.6.2, alone.

    tests/interop/nvme_pdus.py hex            the bytes that pdu_encoder_test.cc holds
    tests/interop/nvme_pdus.py seeds FOLDER   seeds of nvme_pdu_fuzz

It shares no code with Forebay: struct and a table-driven CRC-32C (check value e3069283).
"""
import pathlib
import struct
import sys

from crc32c import crc32c


def pdu(kind, specific, data=b"", flags=0, hdgst=False, ddgst=False, align=4):
    """Common header, header, header digest, padding, data, data digest."""
    hlen = 8 + len(specific)
    begin = hlen + (4 if hdgst else 0)
    if data:
        begin = -(-begin // align) * align
    ddgst = ddgst and bool(data)
    flags |= (1 if hdgst else 0) | (2 if ddgst else 0)
    plen = begin + len(data) + (4 if ddgst else 0)
    head = struct.pack("<BBBBI", kind, flags, hlen, begin if data else 0, plen) + specific
    out = head + (struct.pack("<I", crc32c(head)) if hdgst else b"")
    return out.ljust(begin, b"\0") + data + (struct.pack("<I", crc32c(data)) if ddgst else b"")


def ic_request(hpda=0, digests=0, maxr2t=0):
    return pdu(0x00, struct.pack("<HBBI112x", 0, hpda, digests, maxr2t))


def ic_response(cpda=0, digests=0, maxh2cdata=131072):
    return pdu(0x01, struct.pack("<HBBI112x", 0, cpda, digests, maxh2cdata))


def sqe(opcode, cid, nsid=0, sgl=(0, 0, 0), dwords=b""):
    """SGL: address, length, type."""
    return struct.pack("<BBHI16xQI3xB", opcode, 0x40, cid, nsid, *sgl) + dwords.ljust(24, b"\0")


def write_command(cid, lba, blocks, sgl):
    return sqe(0x01, cid, 1, sgl, struct.pack("<QI", lba, blocks - 1))


def cqe(cid, status=0, result=0, head=0):
    return struct.pack("<QHHHH", result, head, 0, cid, status)


def data_specific(cid, tag, offset, length):
    return struct.pack("<HHII4x", cid, tag, offset, length)


def terminate(kind, reason, detail, refused):
    head = struct.pack("<BBBBI", kind, 0, 24, 0, 24 + len(refused))
    return head + struct.pack("<HI10x", reason, detail) + refused


BLOCK = bytes(range(64))
SAMPLES = {
    "ic_request": ic_request(0, 3, 0),
    "ic_response": ic_response(0, 3, 131072),
    "command": pdu(0x04, write_command(7, 5, 1, (0, 4096, 0x5A))),
    "command_capsule_digests": pdu(0x04, write_command(7, 5, 1, (0, 64, 0x01)), BLOCK, hdgst=True, ddgst=True),
    "response_digest": pdu(0x05, cqe(7, 0x8004, 0x1122334455667788, 3), hdgst=True),
    "host_data": pdu(0x06, data_specific(7, 9, 4096, 64), BLOCK, flags=4),
    "controller_data_aligned": pdu(0x07, data_specific(7, 0, 0, 64), BLOCK, flags=0xC, hdgst=True, ddgst=True,
                                   align=64),
    "ready": pdu(0x09, data_specific(7, 9, 4096, 8192)),
    "terminate": terminate(0x03, 1, 0x10004, pdu(0x05, cqe(7))[:8]),
}


def seeds(folder):
    folder.mkdir(parents=True, exist_ok=True)
    # First byte: sender, digests and piece size, as nvme_pdu_fuzz.cc takes them.
    plain_host = ic_request() + SAMPLES["command"] + SAMPLES["host_data"]
    (folder / "host_plain").write_bytes(b"\x00" + plain_host)
    digests_host = ic_request(0, 3) + SAMPLES["command_capsule_digests"]
    (folder / "host_digests_by_bytes").write_bytes(b"\x0e" + digests_host)
    (folder / "controller_digests").write_bytes(
        b"\x07" + ic_response(0, 3) + SAMPLES["controller_data_aligned"] + SAMPLES["response_digest"])
    (folder / "controller_plain").write_bytes(
        b"\x01" + ic_response() + SAMPLES["ready"] + SAMPLES["terminate"])
    (folder / "host_terminates").write_bytes(
        b"\x00" + ic_request() + terminate(0x02, 2, 0, SAMPLES["ready"]))


def main():
    if sys.argv[1:2] == ["hex"]:
        for name, data in SAMPLES.items():
            print(f"{name}: {data.hex()}")
        return 0
    if sys.argv[1:2] == ["seeds"] and len(sys.argv) == 3:
        seeds(pathlib.Path(sys.argv[2]))
        return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
