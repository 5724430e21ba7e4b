"""HTTP/2 by hand, for requests that no client library would send: `RawConnection`."""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, DATA = 1, 4, 0
END_HEADERS, END_STREAM = 4, 1
INITIAL_WINDOW_SIZE = 4  # a setting


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header(name: bytes, value: bytes) -> bytes:
    """One header, neither compressed nor remembered."""
    assert max(len(name), len(value)) < 127
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class RawConnection:
    """A connection on which each request is what the test says."""

    def __init__(self, address: str, window: int = 65_535) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        self._next = 1
        setting = struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, setting))

    def request(self, path: bytes, body: bytes = b"") -> None:
        """A gRPC call of one message."""
        pairs = [
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", path),
            (b":authority", b"localhost"),
        ]
        pairs += [(b"content-type", b"application/grpc"), (b"te", b"trailers")]
        headers = b"".join(header(*pair) for pair in pairs)
        message = b"\0" + struct.pack(">I", len(body)) + body
        stream, self._next = self._next, self._next + 2
        self.socket.sendall(
            frame(HEADERS, END_HEADERS, stream, headers) + frame(DATA, END_STREAM, stream, message)
        )

    def close(self) -> None:
        self.socket.close()
