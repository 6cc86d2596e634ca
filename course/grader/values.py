"""How values cross between the grader and a worker: as JSON and raw arrays, never pickle.

Plain JSON values stand for themselves (a list for a list); all else is an object with one key that
names its kind:

    {"tuple": [...]}  {"set": [...]}  {"dict": [[key, value], ...]}  {"float": "nan"}
    {"complex": [re, im]}  {"array": 0}  {"scalar": 0}  {"items": [[...], shape]}
    {"callable": 3, "name": "f"}   a function of the sender, which the receiver may call
    {"yours": 3}                   a function of the receiver

What arrives is rebuilt from these kinds only, within limits. The module stands alone: a worker's
process imports it by itself.
"""

import builtins
import decimal
import math
import numbers

import numpy as np

MOST_RAW = 64_000_000  # bytes of all arrays
MOST_EMPTY = 1_000_000  # rows of an array that holds nothing
MOST_DEPTH = 30
MOST_KEYS = 2_000  # of a dict or set: keys that collide must not hold up the receiver
MOST_TOLD = 3_000  # characters of a message
MOST_BITS = 4_000  # of an integer; Python reads no more than 4,300 digits
TYPES = {np.dtype(t).str: np.dtype(t) for t in "?bBhHiIlLqQefdFD"}


class Broken(BaseException):
    """The other side is gone, is late, or sends what is no frame.

    No `except Exception` of a test takes it for an answer.
    """


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
            # A member of an Enum of words is its word, whatever str() makes of it.
            return value if value is None or isinstance(value, bool) else str.__str__(value)
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
        if isinstance(value, (numbers.Real, decimal.Decimal)):
            return self.pack(float(value))
        if hasattr(type(value), "__array__"):  # a column of Pandas, say
            return self._pack_array(np.asarray(value), depth)
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
            if count == 0 and any(n > MOST_EMPTY for n in shape):  # to walk over without end
                raise Broken("an array of impossible shape")
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
            return self.peer.borrow(index_of(value["callable"]), plain(str(value.get("name"))))
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
            return self.arrays[index_of(content)]
        if kind == "scalar":
            return self.arrays[index_of(content)].reshape(-1)[0]
        if kind == "items":
            return _of_items(self.unpack(content[0], depth), content[1])
        if kind == "yours":
            return self.peer.lent[index_of(content)]
        raise Broken("a value of unknown kind")

    @staticmethod
    def _few(items):
        if len(items) > MOST_KEYS:
            raise Broken(f"a dict or set of more than {MOST_KEYS} keys")
        return items


def index_of(value):
    """Return a number that may be an index."""
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


def readable(text):
    """Return a message as any file and page can show it: no control characters, not too long."""
    text = "".join(c for c in plain(text) if c in "\n\t" or c.isprintable())
    return text if len(text) <= MOST_TOLD else text[:MOST_TOLD] + " ..."


def one_line(text):
    """Return a message that makes no lines of its own in a log or a terminal."""
    return " ".join(readable(text).split())


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
