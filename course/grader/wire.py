"""How the grader and a worker talk: frames of JSON and raw arrays over two pipes.

A frame is two lengths, a JSON text and the bytes of its arrays; `values` says what the text holds.
Neither side trusts the other.
"""

import json
import math
import os
import re
import select
import struct
import time

try:
    from .values import MOST_RAW, Broken, Packer, Unpacker, Unsendable, as_error, in_words, index_of
except ImportError:  # in a worker, where the two modules stand alone
    from values import MOST_RAW, Broken, Packer, Unpacker, Unsendable, as_error, in_words, index_of

MOST_JSON = 4_000_000
MOST_CALLS = 40  # that wait for each other
HEAD = struct.Struct("!II")


class TooLate(Broken):
    """The other side did not answer in time."""


class Peer:
    """One end of the line: sends frames, answers calls, calls the other side's functions.

    Parameters
    ----------
    receiving, sending : int
        The file descriptors of two pipes.
    """

    def __init__(self, receiving, sending):
        self.receiving, self.sending = receiving, sending
        self.lent = []  # the functions that the other side may call, by number
        self.deadline = math.inf
        self._numbers = {}
        self._borrowed = {}
        self._waiting = 0

    # Functions

    def lend(self, function):
        """Return the wire form of a function."""
        number = getattr(function, "_borrowed_from", (None, 0))
        if number[0] is self:
            return {"yours": number[1]}
        if id(function) not in self._numbers:
            self._numbers[id(function)] = len(self.lent)
            self.lent.append(function)  # and so its id is not used again
        name = re.sub(r"\W", "", str(getattr(function, "__name__", "")))[:80]
        return {"callable": self._numbers[id(function)], "name": name or "function"}

    def borrow(self, number, name):
        """Return a function that calls one of the other side."""
        if number not in self._borrowed:

            def borrowed(*arguments, **options):
                return self.call(number, arguments, options)

            borrowed.__name__ = borrowed.__qualname__ = re.sub(r"\W", "", name)[:80] or "function"
            borrowed._borrowed_from = self, number
            self._borrowed[number] = borrowed
        return self._borrowed[number]

    def call(self, number, arguments, options):
        """Call a function of the other side; arrays that it changes in place are changed here."""
        packer = Packer(self)
        message = {
            "is": "call",
            "function": number,
            "arguments": [packer.pack(value) for value in arguments],
            "options": [[str(key), packer.pack(value)] for key, value in options.items()],
        }
        reply, unpacker = self.request(message, packer)
        try:
            for place, changed in reply["changed"]:
                ours, theirs = packer.arrays[index_of(place)], unpacker.unpack(changed)
                if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
                    raise Broken("it changed the shape of an array")
                ours[...] = theirs
            error = as_error(*reply["error"]) if "error" in reply else None
            value = None if error else unpacker.unpack(reply["value"])
        except Exception as problem:
            raise Broken("it answered with what is no value") from problem
        if error:
            raise error
        return value

    def serve(self, message, unpacker):
        """Answer one call of the other side."""
        before = []
        packer = Packer(self)
        reply = {"is": "answer"}
        try:
            function = self.lent[index_of(message["function"])]
            arguments = [unpacker.unpack(value) for value in message["arguments"]]
            options = {str(key): unpacker.unpack(value) for key, value in message["options"]}
            before = [array.tobytes() for array in unpacker.arrays]
            reply["value"] = packer.pack(self.run(function, arguments, options))
        except Broken:
            raise
        except BaseException as error:
            packer = Packer(self)
            reply["error"] = in_words(error)
        reply["changed"] = [
            [place, packer.pack(array)]
            for place, was in enumerate(before)
            if (array := unpacker.arrays[place]).tobytes() != was
        ]
        self.send(reply, packer)

    def run(self, function, arguments, options):
        return function(*arguments, **options)

    # Frames

    def request(self, message, packer=None):
        """Send a message and return its reply; answer the other side's calls until it comes."""
        if self._waiting >= MOST_CALLS:
            raise RecursionError("calls go back and forth without end")
        self._waiting += 1
        try:
            self.send(message, packer or Packer(self))
            while True:
                reply, unpacker = self.receive()
                if reply.get("is") != "call":
                    return reply, unpacker
                self.serve(reply, unpacker)
        finally:
            self._waiting -= 1

    def send(self, message, packer):
        arrays = [a.astype(a.dtype.newbyteorder("="), copy=False) for a in packer.arrays]
        message["arrays"] = [[a.dtype.str, a.shape, a.flags.writeable] for a in arrays]
        raw = [a.tobytes() for a in arrays]  # in C order, whatever the array's own
        text = json.dumps(message).encode("ascii")
        if len(text) > MOST_JSON:
            raise Unsendable(f"a value whose text is longer than {MOST_JSON:,} characters")
        data = memoryview(b"".join([HEAD.pack(len(text), sum(map(len, raw))), text, *raw]))
        while data:
            self._wait(sending=True)
            try:
                data = data[os.write(self.sending, data[:65536]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Broken("it ended") from None

    def receive(self):
        json_size, raw_size = HEAD.unpack(self._read(HEAD.size))
        if json_size > MOST_JSON or raw_size > MOST_RAW:
            raise Broken("it answered with more than can be")
        text, raw = self._read(json_size), self._read(raw_size)
        try:
            message = json.loads(text)
            return message, Unpacker(self, message["arrays"], raw)
        except Exception as error:
            raise Broken("it answered with what is no message") from error

    def _read(self, size):
        pieces = []
        while size:
            self._wait(sending=False)
            piece = os.read(self.receiving, min(size, 1 << 20))
            if not piece:
                raise Broken("it ended")
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _wait(self, sending):
        if self.deadline == math.inf:
            return
        left = self.deadline - time.monotonic()
        ours, theirs = ([], [self.sending]) if sending else ([self.receiving], [])
        if left <= 0 or not any(select.select(ours, theirs, [], left)):
            raise TooLate("it did not answer in time")
