"""The files of a store as FORMAT.md says: read and forged alone.

Nothing of the package is used, so that an error of the document, or of the package,
makes a test fail.
"""

import base64
import hashlib
import json
import struct

import pyarrow as pa

BLOCK = 65_536
SUMS = b"fewbits sum 1\n\0\0"
DELETES = b"fewbits del 1\n\0\0"


def _shifted(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = [_shifted(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in bytes(data):
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def sealed(data):
    """Return some bytes with their checksum behind them."""
    return bytes(data) + struct.pack("<I", crc32c(data))


def block_sums(data):
    return [crc32c(data[i : i + BLOCK]) for i in range(0, len(data), BLOCK)]


def sum_of_sums(sums):
    return crc32c(struct.pack(f"<{len(sums)}I", *sums))


def manifest(data):
    """Return the content of a manifest, after checking its seal."""
    line, body = data.split(b"\n", 1)
    digest = hashlib.sha256(b"\n" + body).hexdigest().encode()
    assert line == b'{"sha256": "%s",' % digest
    content = json.loads(data)
    del content["sha256"]
    return content


def manifest_bytes(content):
    body = b"\n" + json.dumps(content)[1:].encode()
    digest = hashlib.sha256(body).hexdigest().encode()
    return b'{"sha256": "%s",' % digest + body


def schema(text):
    """Return the schema of a manifest, or of a segment or an update in it."""
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def schema_text(schema):
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def sums(data):
    """Return the facts, and (sums, head, tail, n_bytes) of each file."""
    assert data[:16] == SUMS
    assert data == sealed(data[:-4])
    (length,) = struct.unpack_from("<Q", data, 16)
    at, files = 24 + length, []
    while at < len(data) - 4:
        n_bytes, start, stop = struct.unpack_from("<3Q", data, at)
        n_blocks, at = -(-n_bytes // BLOCK), at + 24
        numbers = [*struct.unpack_from(f"<{n_blocks}I", data, at)]
        at += 4 * n_blocks
        head, tail = data[at : at + start], data[at + start :][: n_bytes - stop]
        at += start + n_bytes - stop
        files.append((numbers, head, tail, n_bytes))
    return json.loads(data[24 : 24 + length]), files


def sums_bytes(facts, files):
    text = json.dumps(facts).encode()
    data = SUMS + struct.pack("<Q", len(text)) + text
    for numbers, head, tail, n_bytes in files:
        data += struct.pack("<3Q", n_bytes, len(head), n_bytes - len(tail))
        data += struct.pack(f"<{len(numbers)}I", *numbers) + head + tail
    return sealed(data)


def deletes(data):
    """Return the token, the number of rows and the places of those deleted."""
    assert data[:16] == DELETES
    assert data == sealed(data[:-4])
    token = data[16:32].decode()
    n_rows, n_deleted, packed = struct.unpack_from("<3Q", data, 32)
    body = data[56:-4]
    if packed:
        bits = [byte >> (7 - i) & 1 for byte in body for i in range(8)]
        places = [i for i, bit in enumerate(bits[:n_rows]) if bit]
    else:
        places = [*struct.unpack(f"<{n_deleted}I", body)]
    assert len(places) == n_deleted
    return token, n_rows, places


def index(data, token, n_rows, width):
    """Return the sorted keys of an index of ids, and the row of each."""
    kind = {4: "I", 8: "q"}[width]
    n_blocks = -(-n_rows * width // BLOCK)
    size = n_blocks * BLOCK
    keys = [*struct.unpack_from(f"<{n_rows}{kind}", data)]
    rows = [*struct.unpack_from(f"<{n_rows}I", data, size)]
    trailer = data[size + 4 * n_rows :]
    assert trailer == sealed(trailer[:-4])
    fences = keys[:: BLOCK // width]
    numbers = block_sums(data[:size]) + block_sums(data[size : size + 4 * n_rows])
    first = struct.pack(f"<{n_blocks}{kind}", *fences)
    first += struct.pack(f"<{len(numbers)}I", *numbers)
    last = struct.pack("<3Q", n_rows, width, len(first))
    assert trailer[:-4] == first + b"fewbits ids 1\n\0\0" + token.encode() + last
    return keys, rows


def derived(data, token, entry):
    """Return what was derived from the codes of a segment."""
    (n_bytes,) = struct.unpack_from("<Q", data, len(data) - 12)
    content, tail = data[:n_bytes], data[n_bytes:]
    numbers = block_sums(content)
    wanted = struct.pack(f"<{len(numbers)}I", *numbers) + b"fewbits der 1\n\0\0"
    wanted += token.encode()
    wanted += struct.pack("<3Q", entry["n_bytes"], entry["crc"], n_bytes)
    assert tail == sealed(wanted)
    return content
