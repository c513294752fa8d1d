#!/usr/bin/env python3
"""Independent keys of NVMe/TCP over TLS, after the NVM Express TCP Transport Specification 1.1, 3.6.1, RFC 5869 and
RFC 8446, 7.1 alone.

    tests/interop/nvme_tls_psk.py vectors        the literals that src/nvme/tls/*_test.cc hold
    tests/interop/nvme_tls_psk.py check          its own identities are those of libnvme's public tests
    tests/interop/nvme_tls_psk.py derive LINE HOSTNQN SUBNQN [VERSION [spec|compat]]
                                                 identity and TLS key in hex, as `openssl s_client -psk` takes it

It shares no code with Forebay: hashlib, hmac, base64, zlib.
"""
import base64
import hashlib
import hmac
import struct
import sys
import zlib

HASHES = {1: "sha256", 2: "sha384"}
HOST = "nqn.2026-12.org.forebay:host"
SUBSYSTEM = "nqn.2026-12.org.forebay:disk"

# libnvme's test/psk.c: key, names, and the identities of version 1 by each derivation.
PUBLIC_KEY = bytes.fromhex("5512DBB6737D0106F65975B773DFB011FFC344BCF442E2DD6D8BC4870B5D5B03")
PUBLIC_NAMES = ("nqn.psk-test-host", "nqn.psk-test-subsys")
PUBLIC = (
    (1, PUBLIC_KEY, False, "iSbjiStwJ/1TrTvDlt2fjFmzvsytOJelidNnA+X5lEU="),
    (1, PUBLIC_KEY, True, "66GuqV08TsAGII39teWUfwQwizjv06Jy8jOcX3NAAzM="),
    (2, PUBLIC_KEY + PUBLIC_KEY[16:], False, "QhW2+Rp6RzHlNtCslyRxMnwJ11tKKhz8JCAQpQ+XUD8f9td1VeH5h53yz2wKJG1a"),
    (2, PUBLIC_KEY + PUBLIC_KEY[16:], True, "RsKmYJ3nAn1ApjjMloJFbAkLPivONDAX/xW327YBUsn2eGShXSjCZvBaOxscLqmz"),
)
PUBLIC_LINES = (
    (1, PUBLIC_KEY, "NVMeTLSkey-1:01:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwNf9LrZ:"),
    (0, PUBLIC_KEY, "NVMeTLSkey-1:00:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwNf9LrZ:"),
    (2, PUBLIC_KEY + PUBLIC_KEY[16:],
     "NVMeTLSkey-1:02:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwP/w0S89ELi3W2LxIcLXVsDn8kXZQ==:"),
)


def line_of(key, transform):
    return f"NVMeTLSkey-1:{transform:02}:" + base64.b64encode(key + struct.pack("<I", zlib.crc32(key))).decode() + ":"


def key_of(line):
    prefix, transform, encoded, _ = line.split(":")
    raw = base64.b64decode(encoded, validate=True)
    if prefix != "NVMeTLSkey-1" or struct.unpack("<I", raw[-4:])[0] != zlib.crc32(raw[:-4]):
        raise SystemExit("that is no key's line")
    return raw[:-4], int(transform)


def extract(name, key):
    return hmac.digest(bytes(hashlib.new(name).digest_size), key, name)


def expand(name, prk, info, size):
    made, block = b"", b""
    for counter in range(1, 256):
        if len(made) >= size:
            break
        block = hmac.digest(prk, block + info + bytes([counter]), name)
        made += block
    return made[:size]


def expand_label(name, secret, label, context, size, compat):
    label = b"tls13 " + label
    if compat:
        info = struct.pack("<H", size) + label + context
    else:
        info = struct.pack(">HB", size, len(label)) + label + struct.pack("B", len(context)) + context
    return expand(name, secret, info, size)


def retained_of(key, transform, host, compat):
    if transform == 0:
        return key
    name = HASHES[transform]
    return expand_label(name, extract(name, key), b"HostNQN", host.encode(), len(key), compat)


def derive(key, transform, host, subsystem, version, compat):
    """Identity and TLS key."""
    hash_id = {32: 1, 48: 2}[len(key)]
    name = HASHES[hash_id]
    retained = retained_of(key, transform, host, compat)
    identity = f"NVMe{version}R{hash_id:02} {host} {subsystem}"
    context = identity
    if version == 1:
        digest = hmac.digest(retained, f"{host} {subsystem} NVMe-over-Fabrics".encode(), name)
        identity += " " + base64.b64encode(digest).decode()
        context = f"{hash_id:02} {base64.b64encode(digest).decode()}"
    size = hashlib.new(name).digest_size
    return identity, expand_label(name, extract(name, retained), b"nvme-tls-psk", context.encode(), size, compat)


def vectors():
    for transform, size in ((0, 32), (1, 32), (0, 48), (2, 48)):
        key = bytes(range(size))
        print("line", line_of(key, transform))
        for compat in (False, True):
            form = "compat" if compat else "spec"
            print(f"retained {form}", retained_of(key, transform, HOST, compat).hex())
            for version in (0, 1):
                identity, psk = derive(key, transform, HOST, SUBSYSTEM, version, compat)
                print(f"{form} {version}", identity)
                print(f"{form} {version} key", psk.hex())


def check():
    good = True
    for hash_id, key, compat, digest in PUBLIC:
        identity, _ = derive(key, hash_id, *PUBLIC_NAMES, 1, compat)
        same = identity == f"NVMe1R{hash_id:02} {PUBLIC_NAMES[0]} {PUBLIC_NAMES[1]} {digest}"
        print(f"identity {HASHES[hash_id]} {'compat' if compat else 'spec'}:", "the same" if same else "ANOTHER")
        good = good and same
    for transform, key, line in PUBLIC_LINES:
        same = line_of(key, transform) == line and key_of(line) == (key, transform)
        print(f"line {transform:02}:", "the same" if same else "ANOTHER")
        good = good and same
    return 0 if good else 1


def main():
    if sys.argv[1:] == ["vectors"]:
        vectors()
    elif sys.argv[1:] == ["check"]:
        return check()
    elif sys.argv[1:2] == ["derive"] and 5 <= len(sys.argv) <= 7:
        version = int(sys.argv[5]) if len(sys.argv) > 5 else 1
        compat = len(sys.argv) > 6 and sys.argv[6] == "compat"
        identity, psk = derive(*key_of(sys.argv[2].strip()), sys.argv[3], sys.argv[4], version, compat)
        print(identity)
        print(psk.hex())
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
