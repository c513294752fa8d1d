#!/usr/bin/env python3
"""An independent DH-HMAC-CHAP, after the NVM Express Base Specification 2.1, 8.3.5.5, and RFC 7919 alone.

    tests/interop/nvme_auth.py vectors        the literals that src/nvme/auth/*_test.cc hold
    tests/interop/nvme_auth.py seeds FOLDER   seeds of nvme_auth_fuzz
    tests/interop/nvme_auth.py check          the primes are safe primes

It shares no code with Forebay or OpenSSL's DH: hashlib, hmac, pow(), and primes made from the digits of e.
"""
import base64
import hashlib
import hmac
import pathlib
import struct
import sys
import zlib

HASHES = {1: "sha256", 2: "sha384", 3: "sha512"}
# Group: bits, and the number that RFC 7919 adds to make a safe prime.
GROUPS = {1: (2048, 560316), 2: (3072, 2625351), 3: (4096, 5736041), 4: (6144, 15705020), 5: (8192, 10965728)}
HOST = b"nqn.2026-12.org.forebay:host"
SUBSYSTEM = b"nqn.2026-12.org.forebay:disk"


def euler(bits):
    """floor(e * 2**bits), by its series with bits to spare."""
    extra = 64
    term = total = 1 << (bits + extra)
    for n in range(1, 10000):
        term //= n
        if term == 0:
            break
        total += term
    return total >> extra


def prime(group):
    bits, plus = GROUPS[group]
    return 2**bits - 2**(bits - 64) + (euler(bits - 130) + plus) * 2**64 - 1


def secret_text(key, transform):
    return f"DHHC-1:{transform:02}:" + base64.b64encode(key + struct.pack("<I", zlib.crc32(key))).decode() + ":"


def transformed(key, transform, nqn):
    return hmac.digest(key, nqn + b"NVMe-over-Fabrics", HASHES[transform]) if transform else key


def response(hash_id, key, challenge, shared, sequence, transaction, role, names):
    name = HASHES[hash_id]
    if shared:
        challenge = hmac.digest(hashlib.new(name, shared).digest(), challenge, name)
    text = challenge + struct.pack("<IHB", sequence, transaction, 0) + role + names[0] + b"\0" + names[1]
    return hmac.digest(key, text, name)


class Pattern:
    """Random bytes of tests: a counter."""

    def __init__(self, first):
        self.next = first

    def take(self, size):
        made = bytes((self.next + i) & 0xFF for i in range(size))
        self.next = (self.next + size) & 0xFF
        return made


def dh_private(source):
    made = source.take(56)
    return int.from_bytes(bytes([made[0] | 0x80]) + made[1:], "big")


def sequence_of(source):
    return struct.unpack("<I", source.take(4))[0] | 1


def transcript(hash_id, group, both, host_transform=1, transaction=7):
    """The messages of one authentication, as both sides make them from patterns 0x10 and 0x90."""
    host_key, controller_key = bytes(range(32)), bytes(range(100, 148))
    host, controller = Pattern(0x10), Pattern(0x90)
    size = hashlib.new(HASHES[hash_id]).digest_size
    bits = GROUPS[group][0] if group else 0
    head = lambda kind: struct.pack("<BBHH", kind >> 8, kind & 0xFF, 0, transaction)

    def encode(number):
        return number.to_bytes(bits // 8, "big") if group else b""

    negotiate = head(0x0000) + struct.pack("<BBBBBB", 0, 1, 1, 0, 1, 1) + bytes([hash_id]).ljust(30, b"\0") + \
        bytes([group]).ljust(30, b"\0")
    c1, s1 = controller.take(size), sequence_of(controller)
    y = dh_private(controller) if group else 0
    p = prime(group) if group else 0
    challenge = head(0x0101) + struct.pack("<BBBBHI", size, 0, hash_id, group, bits // 8, s1) + c1 + \
        (encode(pow(2, y, p)) if group else b"")
    x = dh_private(host) if group else 0
    shared = encode(pow(pow(2, y, p), x, p)) if group else b""
    names = (HOST, SUBSYSTEM)
    r1 = response(hash_id, transformed(host_key, host_transform, HOST), c1, shared, s1, transaction, b"HostHost",
                  names)
    c2, s2 = (host.take(size), sequence_of(host)) if both else (bytes(size), 0)
    reply = head(0x0102) + struct.pack("<BBBBHI", size, 0, int(both), 0, bits // 8, s2) + r1 + c2 + \
        (encode(pow(2, x, p)) if group else b"")
    r2 = response(hash_id, transformed(controller_key, 2, SUBSYSTEM), c2, shared, s2, transaction, b"Controller",
                  names[::-1])
    success1 = head(0x0103) + struct.pack("<BBB7x", size, 0, int(both)) + (r2 if both else b"")
    success2 = head(0x0104) + bytes(10)
    return [negotiate, challenge, reply, success1] + ([success2] if both else [])


def vectors():
    print("host secret", secret_text(bytes(range(32)), 1))
    print("controller secret", secret_text(bytes(range(100, 148)), 2))
    print("raw secret", secret_text(bytes(range(64)), 0))
    for transform in HASHES:
        print(f"key {transform}", transformed(bytes(range(32)), transform, HOST).hex())
    for group in GROUPS:
        x, y = dh_private(Pattern(0x10)), dh_private(Pattern(0x90))
        p, width = prime(group), GROUPS[group][0] // 8
        for name, number in (("public", pow(2, x, p)), ("shared", pow(pow(2, y, p), x, p))):
            print(f"group {group} {name}", hashlib.sha256(number.to_bytes(width, "big")).hexdigest())
    for hash_id in HASHES:
        for group in (0, 1, 2):
            for both in (False, True):
                text = b"".join(transcript(hash_id, group, both))
                print(f"transcript {hash_id} {group} {int(both)}", hashlib.sha256(text).hexdigest())
    for name, message in zip(("negotiate", "challenge", "reply", "success1", "success2"), transcript(1, 0, True)):
        print(name, message.hex())


def seeds(folder):
    """A first byte: bits 1:0 the part (0 controller, 1 host, 2 secret), bit 2 both prove themselves; then
    messages behind their lengths."""
    folder.mkdir(parents=True, exist_ok=True)
    framed = lambda messages: b"".join(struct.pack("<H", len(message)) + message for message in messages)
    failure = struct.pack("<BBHHBB", 0, 0xF1, 0, 7, 1, 1)
    for hash_id, group, both in ((1, 0, False), (2, 0, True), (3, 1, True)):
        messages = transcript(hash_id, group, both)
        name = f"{HASHES[hash_id]}_{group}_{int(both)}"
        (folder / f"controller_{name}").write_bytes(bytes([0 | both << 2]) + framed(messages[0::2]))
        (folder / f"host_{name}").write_bytes(bytes([1 | both << 2]) + framed(messages[1::2]))
    once = transcript(1, 0, False)
    (folder / "controller_again").write_bytes(b"\x00" + framed([once[0], once[0], once[0], once[0], once[0]]))
    (folder / "controller_gives_up").write_bytes(b"\x00" + framed([once[0], failure.replace(b"\xf1", b"\xf0")]))
    (folder / "host_refused").write_bytes(b"\x01" + framed([once[1], failure]))
    for transform, size in ((0, 64), (1, 32), (2, 48)):
        (folder / f"secret_{transform}").write_bytes(b"\x02" + secret_text(bytes(range(size)), transform).encode())


def is_prime(n, bases=(2, 3, 5, 7, 11)):
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for base in bases:
        x = pow(base, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def main():
    if sys.argv[1:2] == ["vectors"]:
        vectors()
    elif sys.argv[1:2] == ["seeds"] and len(sys.argv) == 3:
        seeds(pathlib.Path(sys.argv[2]))
    elif sys.argv[1:2] == ["check"]:
        for group in GROUPS:
            good = is_prime(prime(group)) and is_prime(prime(group) // 2)
            print(f"group {group}:", "a safe prime" if good else "NOT a safe prime")
            if not good:
                return 1
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
