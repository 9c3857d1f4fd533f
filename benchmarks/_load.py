"""A load generator in a process of its own: the same few requests, again and again.

    python -m benchmarks._load HOST:PORT CONNECTIONS SECONDS < REQUESTS

Reads a JSON list of paths and bodies; prints the latencies of all answers in seconds as
JSON. Each connection sends its next request when it has the answer to the one before.
"""

import asyncio
import json
import sys
import time


def prepared(host: str, path: str, body: str) -> bytes:
    """Return a request as it goes over the wire."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


async def ask(
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
) -> None:
    """Send a request and read its answer, which must be a success."""
    reader, writer = streams
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    fields = head.lower().split(b"content-length: ")
    await reader.readexactly(int(fields[1].split(b"\r\n")[0]))


async def connection(
    host: str, requests: list[bytes], start: int, end: float, found: list[float]
) -> None:
    name, port = host.split(":")
    streams = await asyncio.open_connection(name, int(port))
    while (began := time.perf_counter()) < end:
        await ask(streams, requests[start % len(requests)])
        found.append(time.perf_counter() - began)
        start += 1
    streams[1].close()


async def main(host: str, n_connections: int, seconds: float) -> None:
    requests = [prepared(host, *each) for each in json.load(sys.stdin)]
    found: list[float] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(
        *(connection(host, requests, 7 * i, end, found) for i in range(n_connections))
    )
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
