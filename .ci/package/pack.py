"""Packs a folder into an archive that depends on nothing but what is in it.

    pack.py FOLDER ARCHIVE

ARCHIVE ends in .tar.gz or .zip. Members stand in the order of their names, belong to nobody in particular and bear the time that
SOURCE_DATE_EPOCH says, so that whoever packs the same files gets the same bytes. What is executable stays so.
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile
import time
import zipfile


def members(folder):
    """The files of a folder with the names that they have in the archive."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    named = [(f"{folder.name}/{path.relative_to(folder).as_posix()}", path) for path in files]
    return sorted(named)


def mode(path):
    # Windows has no such bit, and there the ending tells.
    executable = os.access(path, os.X_OK) if os.name != "nt" else path.suffix == ".exe"
    return 0o755 if executable else 0o644


def tar(folder, moment):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in members(folder):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = path.stat().st_size, moment, mode(path)
            with path.open("rb") as content:
                archive.addfile(member, content)
    return gzip.compress(plain.getvalue(), mtime=0)


def zipped(folder, moment):
    packed = io.BytesIO()
    # The format knows no time before 1980, and none but even seconds.
    when = time.gmtime(max(moment, 315532800))[:6]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members(folder):
            member = zipfile.ZipInfo(name, when)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            member.external_attr = (0o100000 | mode(path)) << 16
            archive.writestr(member, path.read_bytes())
    return packed.getvalue()


def main(folder, archive):
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    packing = zipped if archive.suffix == ".zip" else tar
    archive.write_bytes(packing(folder, moment))


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
