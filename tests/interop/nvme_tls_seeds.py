#!/usr/bin/env python3
"""Seeds of nvme_tls_fuzz, made without OpenSSL: lines of keys, identities, a ClientHello whose binder is right, and
scripts of what two ends do.

    tests/interop/nvme_tls_seeds.py FOLDER

A first byte chooses the part: 0 a key's line, 1 an identity, 2 bytes for a controller, 3 bytes for a host, 4 a script.
"""
import hashlib
import hmac
import pathlib
import struct
import sys

import nvme_tls_psk as keys

SUITES = {"sha256": 0x1301, "sha384": 0x1302}


def extension(kind, content):
    return struct.pack(">HH", kind, len(content)) + content


def vector(size, content):
    return len(content).to_bytes(size, "big") + content


def client_hello(identity, psk):
    """RFC 8446, 4.1.2, with psk_dhe_ke, a share of X25519 and one identity, in a record."""
    name = "sha256" if identity[7] == "1" else "sha384"
    size = hashlib.new(name).digest_size
    share = struct.pack(">H", 29) + vector(2, bytes(range(1, 33)))
    extensions = extension(43, vector(1, b"\3\4"))
    extensions += extension(10, vector(2, struct.pack(">H", 29)))
    extensions += extension(13, vector(2, struct.pack(">H", 0x0804)))
    extensions += extension(45, vector(1, b"\1"))
    extensions += extension(51, vector(2, share))
    offered = vector(2, vector(2, identity.encode()) + bytes(4))
    binders_size = 2 + 1 + size
    extensions += struct.pack(">HH", 41, len(offered) + binders_size) + offered
    body = b"\3\3" + bytes(32) + vector(1, b"") + vector(2, struct.pack(">H", SUITES[name])) + vector(1, b"\0")
    body += struct.pack(">H", len(extensions) + binders_size) + extensions
    truncated = b"\1" + (len(body) + binders_size).to_bytes(3, "big") + body
    early = keys.extract(name, psk)
    binder_key = keys.expand_label(name, early, b"ext binder", hashlib.new(name).digest(), size, False)
    finished_key = keys.expand_label(name, binder_key, b"finished", b"", size, False)
    binder = hmac.digest(finished_key, hashlib.new(name, truncated).digest(), name)
    return b"\x16\3\1" + vector(2, truncated + vector(2, vector(1, binder)))


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for transform, size in ((0, 32), (1, 32), (0, 48), (2, 48)):
        key = bytes(range(size))
        (folder / f"line_{transform}_{size}").write_bytes(b"\0" + keys.line_of(key, transform).encode())
    for transform, size in ((1, 32), (2, 48)):
        for version in (0, 1):
            for compat in (False, True):
                identity, psk = keys.derive(bytes(range(size)), transform, keys.HOST, keys.SUBSYSTEM, version, compat)
                name = f"{size}_{version}_{'compat' if compat else 'spec'}"
                (folder / f"identity_{name}").write_bytes(b"\1" + identity.encode())
                hello = client_hello(identity, psk)
                (folder / f"hello_{name}").write_bytes(b"\2" + hello)
    identity, psk = keys.derive(bytes(range(32)), 1, keys.HOST, keys.SUBSYSTEM, 1, False)
    hello = client_hello(identity, psk)
    (folder / "hello_wrong_binder").write_bytes(b"\2" + hello[:-1] + bytes([hello[-1] ^ 1]))
    (folder / "hello_then_data").write_bytes(b"\2" + hello + b"\x17\3\3\0\x20" + bytes(32))
    (folder / "host_alert").write_bytes(b"\3" + b"\x15\3\3\0\2\2\x28")
    (folder / "host_server_hello").write_bytes(
        b"\3\x16\3\3" + vector(2, b"\2" + vector(3, b"\3\3" + bytes(32) + b"\0\x13\1\0" + vector(2, extension(43, b"\3\4")))))
    # What is done, by a byte, and how much of it: see play_script().
    (folder / "script_data").write_bytes(bytes([4, 0, 40, 1, 90, 2, 7, 3, 7, 0, 255, 2, 255]))
    (folder / "script_keys").write_bytes(bytes([4, 0, 9, 4, 0, 0, 9, 5, 0, 1, 9, 2, 200, 3, 200]))
    (folder / "script_end").write_bytes(bytes([4, 0, 9, 6, 0, 2, 255, 7, 0, 3, 255]))
    (folder / "script_changed").write_bytes(bytes([4, 0, 9, 8, 30, 2, 255]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
