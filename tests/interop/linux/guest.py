"""A Linux guest under QEMU's software emulation: kernel from Debian's package, initramfs made here.

Needs no root, no KVM and nothing installed but the programs of NEEDS. Missing() says what is not there.
The guest reaches 127.0.0.1 of this machine as 10.0.2.2.
"""
import hashlib
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HOST_ADDRESS = "10.0.2.2"
# program -> Debian package
NEEDS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "nvme": "nvme-cli", "cpio": "cpio",
         "depmod": "kmod", "modprobe": "kmod", "xz": "xz-utils", "mke2fs": "e2fsprogs", "apt-get": "apt",
         "dpkg-deb": "dpkg"}
PROGRAMS = ["nvme", "mke2fs", "e2fsck"]
MODULES = ["virtio_pci", "virtio_net", "nvme-tcp", "nvmet-tcp", "brd", "ext4", "crc32c_generic", "crc32c-intel",
           "nvme-auth", "dh_generic", "hmac", "sha256_generic", "sha512_generic", "virtio_blk", "nvme-keyring", "tls",
           "gcm", "ctr", "ghash-generic", "ghash-clmulni-intel", "aes_generic", "aesni-intel"]
# Of the disk for cases that want more than busybox: the handshake of the kernel's TLS, and an nvme-cli that has keys.
DISK_SUITE = "trixie"
DISK_PACKAGES = ["nvme-cli", "ktls-utils", "keyutils", "kmod"]


def find(program):
    return shutil.which(program, path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")


def missing():
    return sorted({package for program, package in NEEDS.items() if find(program) is None})


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def newest_release(series):
    """The release of the newest full-flavour kernel package of a series, or None."""
    names = run("apt-cache", "search", "--names-only", rf"^linux-image-{re.escape(series)}\.[0-9.+deb~-]+-amd64$")
    found = [line.split()[0] for line in names.splitlines() if not re.search("cloud|rt-|dbg|unsigned", line)]
    found.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    return found[-1].removeprefix("linux-image-") if found else None


def fetch_kernel(series, folder):
    """The unpacked kernel package under `folder`; (path, release), or None where there is none to be had."""
    kept = sorted(folder.glob(f"{series}.*/.complete"))
    if kept:
        return kept[-1].parent, kept[-1].parent.name
    release = newest_release(series)
    if release is None:
        return None
    path = folder / release
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as debs:
        try:
            run("apt-get", "-o", "APT::Sandbox::User=root", "download", f"linux-image-{release}", cwd=debs)
        except subprocess.CalledProcessError:
            return None
        for deb in pathlib.Path(debs).glob("*.deb"):
            run("dpkg-deb", "-x", str(deb), str(path))
    if not (path / "lib" / "modules").is_dir():
        (path / "lib").symlink_to("usr/lib")
    run("depmod", "-b", str(path), release)
    (path / ".complete").touch()
    return path, release


def add_program(root, program):
    """A program and the libraries that it loads at its start."""
    source = find(program)
    shutil.copy(source, root / "bin" / program)
    for library in re.findall(r"(/\S+)", run("ldd", source)):
        place = root / library.lstrip("/")
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)


def add_modules(root, kernel, release):
    for module in MODULES:
        done = subprocess.run(["modprobe", "-d", str(kernel), "-S", release, "--show-depends", module],
                              capture_output=True, text=True)
        for file in re.findall(r"^insmod (\S+)", done.stdout, re.M):
            source = pathlib.Path(file)
            place = root / "lib" / "modules" / release / source.name.removesuffix(".xz")
            if source.suffix == ".xz":
                place.write_bytes(subprocess.run(["xz", "-dc", file], check=True, capture_output=True).stdout)
            else:
                shutil.copy(source, place)
    for name in ("modules.builtin", "modules.order"):
        shutil.copy(kernel / "lib" / "modules" / release / name, root / "lib" / "modules" / release)
    run("depmod", "-b", str(root), release)


def make_initramfs(kernel, release, folder):
    """Busybox, programs, modules and the case scripts; made again when any script changes."""
    scripts = [HERE / "init", HERE / "run_case", HERE / "common.sh", *sorted((HERE / "cases").glob("*.sh")),
               *sorted((HERE / "target").glob("*.sh"))]
    parts = [*MODULES, *PROGRAMS, *(script.read_text() for script in scripts)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    image = folder / f"initramfs-{release}-{key}.cpio.gz"
    if image.exists():
        return image
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        root = pathlib.Path(scratch)
        for name in ("bin", "etc/nvme", "proc", "sys", "dev", "tmp", "run", "mnt", "cases", f"lib/modules/{release}"):
            (root / name).mkdir(parents=True)
        shutil.copy(find("busybox"), root / "bin" / "busybox")
        for applet in run(find("busybox"), "--list").split():
            if applet != "busybox":
                (root / "bin" / applet).symlink_to("busybox")
        for program in PROGRAMS:
            (root / "bin" / program).unlink(missing_ok=True)
            add_program(root, program)
        add_modules(root, kernel, release)
        for script in scripts:
            shutil.copy(script, root / ("init" if script.name == "init" else f"cases/{script.name}"))
        (root / "init").chmod(0o755)
        packed = folder / "initramfs.tmp"
        subprocess.run(f"find . -print0 | cpio --null -o -H newc --quiet | gzip -1 > {packed}", shell=True,
                       check=True, cwd=root)
        packed.rename(image)
    return image


def make_disk(folder):
    """Debian's user space as an image, or why there is none; made once."""
    disk = folder / f"{DISK_SUITE}-{hashlib.sha256(' '.join(DISK_PACKAGES).encode()).hexdigest()[:8]}.img"
    if disk.exists():
        return disk, ""
    if find("mmdebstrap") is None:
        return None, "install mmdebstrap"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        root, packed = pathlib.Path(scratch) / "root", folder / "disk.tmp"
        try:
            run("mmdebstrap", "--quiet", "--variant=minbase", "--include=" + ",".join(DISK_PACKAGES), DISK_SUITE, str(root))
            packed.unlink(missing_ok=True)
            with open(packed, "wb") as file:
                file.truncate(600 << 20)
            run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", str(root), str(packed))
        except subprocess.CalledProcessError as error:
            return None, f"no {DISK_SUITE} to be had: {(error.stderr or '').strip()[-200:]}"
        packed.rename(disk)
    return disk, ""


def command_line(kernel, release, image, arguments, forward="", disk=None):
    """Of QEMU; `forward`: user-mode network options such as a host port that leads into the guest."""
    if disk is not None:
        arguments = {**arguments, "root": "/dev/vda"}
    vmlinuz = kernel / "boot" / f"vmlinuz-{release}"
    append = "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on tsc=unstable " + " ".join(
        f"{name}={value}" for name, value in arguments.items())
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine",
            "q35", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max", "-m", "768", "-smp", "2", "-serial",
            "stdio", "-kernel", str(vmlinuz), "-initrd", str(image), "-netdev", f"user,id=n0,ipv6=off{forward}", "-device",
            "virtio-net-pci,netdev=n0,romfile=", *drive(disk), "-append", append]


def drive(disk):
    """What a run writes to the disk is thrown away."""
    return [] if disk is None else ["-drive", f"file={disk},format=raw,if=none,id=d0,cache=unsafe,snapshot=on", "-device",
                                    "virtio-blk-pci,drive=d0"]


def boot(kernel, release, image, arguments, timeout_s, disk=None):
    """Boots, runs what `arguments` (a dict) ask for; the console's text. It ends with `case-rc N`."""
    command = command_line(kernel, release, image, arguments, disk=disk)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout_s)
        return done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + f"\ntimed out after {timeout_s} s"


class Server:
    """A guest that serves on its port 4420, which is `port` of 127.0.0.1 here, until end()."""

    def __init__(self, kernel, release, image, arguments, console, timeout_s, disk=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = command_line(kernel, release, image, arguments, f",hostfwd=tcp:127.0.0.1:{self.port}-:4420", disk)
        self.console = console
        with open(console, "w") as text:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=text, stderr=subprocess.STDOUT)
        limit = time.monotonic() + timeout_s
        while not self.ready and self.process.poll() is None and time.monotonic() < limit:
            time.sleep(0.2)

    @property
    def ready(self):
        return "target-ready" in self.console.read_text(errors="replace")

    def end(self):
        self.process.kill()
        self.process.wait()
