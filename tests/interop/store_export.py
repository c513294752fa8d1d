#!/usr/bin/env python3
"""An independent reader and writer of export files, after docs/formats/store-export.md alone.

    tests/interop/store_export.py show FILE            one line a block, then the trailer
    tests/interop/store_export.py make FILE KEY=TEXT... a chain: each block's parent is the one before
    tests/interop/store_export.py hex                  the bytes that export_stream_test.cc holds
    tests/interop/store_export.py seeds FOLDER         seeds of store_export_fuzz

It shares no code with Forebay: struct, hashlib and a table-driven CRC-32C (check value e3069283).
"""
import hashlib
import pathlib
import struct
import sys

from crc32c import crc32c


def block_id(tenant, layout, key):
    names = b"".join(struct.pack("<I", len(name)) + name for name in (tenant, layout, key))
    return hashlib.sha256(names).digest()


def header(version=1):
    body = struct.pack("<8sI16x", b"FEBYAEXP", version)
    return body + struct.pack("<I", crc32c(body + bytes(4)))


def record(tenant, layout, key, data, parent=bytes(32), tokens=0, depth=0):
    identity = block_id(tenant, layout, key)

    def head(crc):
        return struct.pack("<4sHHHHIIIII", b"XBLK", len(tenant), len(layout), len(key), 0, len(data),
                           tokens, depth, crc32c(data), crc) + identity + parent

    names = tenant + layout + key
    return head(crc32c(head(0) + names)) + names + data


def trailer(before, blocks, data_bytes, skipped=0):
    body = struct.pack("<4sIQQI", b"XEND", skipped, blocks, data_bytes, crc32c(before))
    return body + struct.pack("<I", crc32c(body + bytes(4)))


def chain(items, tenant=b"default", layout=b"raw"):
    """A whole file of one chain of (key, data)."""
    out, parent = header(), bytes(32)
    for depth, (key, data) in enumerate(items):
        out += record(tenant, layout, key, data, parent, 16, depth)
        parent = block_id(tenant, layout, key)
    return out + trailer(out, len(items), sum(len(data) for _, data in items))


def show(data):
    assert data[:32] == header(), "header"
    at, blocks, total = 32, 0, 0
    known = {bytes(32)}
    while data[at:at + 4] == b"XBLK":
        (tenant, layout, key, _, size, tokens, depth, data_crc, crc) = struct.unpack_from(
            "<HHHHIIIII", data, at + 4)
        identity, parent = data[at + 32:at + 64], data[at + 64:at + 96]
        names = data[at + 96:at + 96 + tenant + layout + key]
        fixed = data[at:at + 28] + bytes(4) + data[at + 32:at + 96]
        assert crc32c(fixed + names) == crc, f"header checksum at {at}"
        body = data[at + 96 + len(names):at + 96 + len(names) + size]
        assert crc32c(body) == data_crc, f"data checksum at {at}"
        texts = names[:tenant], names[tenant:tenant + layout], names[tenant + layout:]
        assert identity == block_id(*texts), f"id at {at}"
        order = "" if parent in known else " parent-not-before"
        known.add(identity)
        print(texts[0].decode(), texts[1].decode(), texts[2].decode(), size, tokens, depth,
              hashlib.sha256(body).hexdigest()[:16] + order)
        at, blocks, total = at + 96 + len(names) + size, blocks + 1, total + size
    skipped = struct.unpack_from("<I", data, at + 4)[0]
    assert data[at:] == trailer(data[:at], blocks, total, skipped), f"trailer at {at}"
    print(f"{blocks} blocks, {total} bytes, {skipped} skipped")


SAMPLE = [(b"key-1", b"The first block."), (b"key-2", b"and its child")]


def seeds(folder):
    folder.mkdir(parents=True, exist_ok=True)
    good = chain(SAMPLE)
    files = {"good": good, "empty": chain([]), "truncated": good[:-40], "version": header(2) + good[32:],
             "beyond": good + b"x", "flipped": good[:150] + bytes([good[150] ^ 1]) + good[151:],
             "missing": header() + good[32 + len(good[32:]) // 2:]}
    for name, data in files.items():
        # The first byte: whether the harness puts the checksums right.
        (folder / name).write_bytes(b"\x00" + data)
        (folder / f"{name}_sealed").write_bytes(b"\x01" + data)


def main():
    what = sys.argv[1]
    if what == "show":
        show(pathlib.Path(sys.argv[2]).read_bytes())
    elif what == "make":
        items = [tuple(item.encode().split(b"=", 1)) for item in sys.argv[3:]]
        pathlib.Path(sys.argv[2]).write_bytes(chain(items))
    elif what == "hex":
        print(chain(SAMPLE).hex())
    else:
        seeds(pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
