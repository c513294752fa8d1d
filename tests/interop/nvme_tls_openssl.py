#!/usr/bin/env python3
"""OpenSSL's own client against a target's TLS port: the handshake, then ICReq and its answer through it.

    tests/interop/nvme_tls_openssl.py PORT KEYFILE HOSTNQN SUBNQN

For each version of the identity and each derivation (nvme_tls_psk.py) one line: the first bytes of the answer, or
the alert. The last two lines are of a key that is another and of a host that nobody knows.
"""
import base64
import re
import struct
import subprocess
import sys
import tempfile

import nvme_tls_psk

SUITES = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"


def session(identity, psk):
    """OpenSSL's form of a session, of which it takes suite and key: its -psk knows SHA-256 alone."""
    item = lambda tag, content: bytes([tag, len(content)]) + content
    suite = 0x1300 + int(identity[7])
    der = item(0x30, item(2, b"\1") + item(2, b"\3\4") + item(4, struct.pack(">H", suite)) + item(4, b"") + item(4, psk))
    label = "SSL SESSION PARAMETERS"
    return f"-----BEGIN {label}-----\n{base64.encodebytes(der).decode()}-----END {label}-----\n"


def talk(port, identity, psk):
    """One ICReq over `openssl s_client`; what comes back."""
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(session(identity, psk))
        file.flush()
        return talk_with(port, identity, file.name)


def talk_with(port, identity, path):
    client = subprocess.Popen(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-psk_identity", identity,
         "-psk_session", path, "-ciphersuites", SUITES, "-quiet", "-no_ign_eof"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        client.stdin.write(struct.pack("<BBBBI", 0, 0, 128, 0, 128) + bytes(120))
        client.stdin.flush()
    except BrokenPipeError:
        pass
    answer = client.stdout.read(8)
    client.kill()
    said = client.stderr.read().decode(errors="replace")
    client.wait()
    if len(answer) == 8:
        return f"PDU type {answer[0]} of {struct.unpack('<I', answer[4:])[0]} bytes"
    alert = re.search(r"alert [a-z ]+", said)
    return alert.group(0) if alert else "no answer"


def main():
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    port, (path, host, subsystem) = int(sys.argv[1]), sys.argv[2:]
    with open(path, encoding="ascii") as file:
        key, transform = nvme_tls_psk.key_of(file.read().strip())
    for version in (0, 1):
        for compat in (False, True):
            identity, psk = nvme_tls_psk.derive(key, transform, host, subsystem, version, compat)
            print(f"identity {version}, {'compat' if compat else 'spec'}:", talk(port, identity, psk))
    identity, psk = nvme_tls_psk.derive(bytes(len(key)), transform, host, subsystem, 0, False)
    print("another key:", talk(port, identity, psk))
    identity, psk = nvme_tls_psk.derive(key, transform, host + "x", subsystem, 1, False)
    print("another host:", talk(port, identity, psk))
    return 0


if __name__ == "__main__":
    sys.exit(main())
