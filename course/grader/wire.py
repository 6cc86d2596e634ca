"""How the grader and a worker talk: frames of JSON and raw arrays over two pipes, never pickle.

A frame is two lengths, a JSON text and the bytes of its arrays. Plain JSON values stand for
themselves (a list for a list); all else is an object with one key that names its kind:

    {"tuple": [...]}  {"set": [...]}  {"dict": [[key, value], ...]}  {"float": "nan"}
    {"complex": [re, im]}  {"array": 0}  {"scalar": 0}  {"items": [[...], shape]}
    {"callable": 3, "name": "f"}   a function of the sender, which the receiver may call
    {"yours": 3}                   a function of the receiver

The module stands alone: the worker's process imports it by itself. Neither side trusts the other:
what arrives is rebuilt from these kinds only, within limits.
"""

import builtins
import json
import math
import os
import re
import select
import struct
import time

import numpy as np

MOST_JSON = 4_000_000
MOST_RAW = 64_000_000
MOST_DEPTH = 30
MOST_KEYS = 2_000  # of a dict or set: keys that collide must not hold up the receiver
MOST_BITS = 4_000  # of an integer; Python reads no more than 4,300 digits
MOST_CALLS = 40  # that wait for each other
HEAD = struct.Struct("!II")
TYPES = {np.dtype(t).str: np.dtype(t) for t in "?bBhHiIlLqQefdFD"}


class Broken(BaseException):
    """The other side is gone, is late, or sends what is no frame.

    No `except Exception` of a test takes it for an answer.
    """


class TooLate(Broken):
    """The other side did not answer in time."""


class Unsendable(TypeError):
    """A value that cannot cross, with the reason in words."""


class Packer:
    """Turns values into JSON and collects their arrays."""

    def __init__(self, peer):
        self.peer = peer
        self.arrays = []
        self._places = {}
        self.size = 0

    def pack(self, value, depth=0):
        if depth > MOST_DEPTH:
            raise Unsendable(f"a value nested more than {MOST_DEPTH} deep")
        if value is None or isinstance(value, (bool, str)):
            return value if value is None or isinstance(value, bool) else str(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._pack_array(value, depth)
        if isinstance(value, int):
            if value.bit_length() > MOST_BITS:
                raise Unsendable(f"an integer of more than {MOST_BITS} bits")
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        if isinstance(value, complex):
            return {"complex": [str(value.real), str(value.imag)]}
        if isinstance(value, (list, range)):
            return [self.pack(item, depth + 1) for item in value]
        for kind, name in ((tuple, "tuple"), (set, "set"), (frozenset, "set")):
            if isinstance(value, kind):
                return {name: [self.pack(item, depth + 1) for item in value]}
        if isinstance(value, dict):
            deeper = depth + 1
            pairs = [[self.pack(k, deeper), self.pack(v, deeper)] for k, v in value.items()]
            return {"dict": pairs}
        if callable(value):
            return self.peer.lend(value)
        raise Unsendable(f"a value of type {type(value).__name__}")

    def _pack_array(self, value, depth):
        if isinstance(value, np.generic):
            if isinstance(value, np.str_):
                return str(value)
            array, kind = np.array(value), "scalar"
        else:
            array, kind = np.asarray(value), "array"
        if array.dtype == np.longdouble or array.dtype == np.clongdouble:
            array = array.astype(float if array.dtype == np.longdouble else complex)
        if array.dtype.kind in "OU":
            items = [self.pack(item, depth + 1) for item in array.ravel().tolist()]
            return {"items": [items, list(array.shape)]}
        if array.dtype.kind not in "biufc":
            raise Unsendable(f"an array of dtype {array.dtype}")
        # The same array twice arrives as the same array twice.
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self.arrays)
            self.size += array.nbytes
            if self.size > MOST_RAW:
                raise Unsendable(f"arrays of more than {MOST_RAW:,} bytes")
            self.arrays.append(array)
        return {kind: place}


class Unpacker:
    """Rebuilds values from JSON and arrays; what is not of the known kinds is refused."""

    def __init__(self, peer, heads, raw):
        self.peer = peer
        self.arrays = []
        at = 0
        for dtype, shape, writeable in heads:
            if not all(type(n) is int and 0 <= n < 2**31 for n in shape) or len(shape) > 16:
                raise Broken("an array of impossible shape")
            dtype = TYPES[dtype]
            count = math.prod(shape)
            stop = at + count * dtype.itemsize
            if stop > len(raw):
                raise Broken("an array that is not there")
            if dtype.kind == "b":  # of which a byte may hold other than 0 and 1
                array = np.frombuffer(raw, np.uint8, count, at) != 0
            else:
                array = np.frombuffer(raw, dtype, count, at).copy()
            array = array.reshape(shape)
            array.flags.writeable = writeable is True
            self.arrays.append(array)
            at = stop

    def unpack(self, value, depth=0):
        if depth > 2 * MOST_DEPTH:
            raise Broken("a value that is nested too deep")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return plain(value)
        if isinstance(value, list):
            return [self.unpack(item, depth + 1) for item in value]
        if "callable" in value:
            return self.peer.borrow(int(value["callable"]), plain(str(value.get("name"))))
        ((kind, content),) = value.items()
        if kind == "tuple":
            return tuple(self.unpack(content, depth))
        if kind == "set":
            return {_key(item) for item in self._few(self.unpack(content, depth))}
        if kind == "dict":
            pairs = self._few(self.unpack(content, depth))
            return {_key(key): item for key, item in pairs}
        if kind == "float":
            return float(content)
        if kind == "complex":
            return complex(float(content[0]), float(content[1]))
        if kind == "array":
            return self.arrays[_index(content)]
        if kind == "scalar":
            return self.arrays[_index(content)].reshape(-1)[0]
        if kind == "items":
            return _of_items(self.unpack(content[0], depth), content[1])
        if kind == "yours":
            return self.peer.lent[_index(content)]
        raise Broken("a value of unknown kind")

    @staticmethod
    def _few(items):
        if len(items) > MOST_KEYS:
            raise Broken(f"a dict or set of more than {MOST_KEYS} keys")
        return items


def _index(value):
    if type(value) is not int or value < 0:
        raise Broken("no index")
    return value


def _key(value):
    """Return a key if it is made of plain values, whose hash and == are Python's own."""
    parts = value if isinstance(value, tuple) else (value,)
    if not all(part is None or isinstance(part, (bool, int, float, str)) for part in parts):
        raise Broken("a key that is no plain value")
    return value


def _of_items(items, shape):
    """Return an array of words, or of objects that are plain values."""
    if not all(type(n) is int and 0 <= n <= len(items) for n in shape) or len(shape) > 16:
        raise Broken("an array of impossible shape")
    if items and all(type(item) is str for item in items):
        return np.array(items).reshape(shape)
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(shape)


def plain(text):
    """Return a text without half characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
                ours, theirs = packer.arrays[_index(place)], unpacker.unpack(changed)
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
            function = self.lent[_index(message["function"])]
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


def in_words(error):
    """Return the name of an exception's nearest builtin kind, and its message."""
    kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    try:
        message = plain(str(error))[:2000]
    except BaseException:
        message = ""
    return [kinds[0].__name__, message]


def as_error(name, message):
    """Return an exception of a builtin kind; one that would end a loop or a program in silence
    comes as a RuntimeError.
    """
    kind = getattr(builtins, name, None) if type(name) is str else None
    silent = StopIteration, StopAsyncIteration
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, silent):
        try:
            return kind(plain(message))
        except TypeError:  # such as UnicodeDecodeError, which takes more
            pass
    return RuntimeError(f"{name}: {message}"[:2000])
