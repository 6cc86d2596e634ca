"""How the tests of a problem set ask a student's function, and answer in words."""

from __future__ import annotations

import contextlib
import copy
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "Hint",
    "ask",
    "check",
    "check_keeps",
    "check_order",
    "counted",
    "counted_zeros",
    "fresh_rng",
    "lines_of",
]

SEED_VARIABLE = "PEGASOS_COURSE_SEED"
MOST_SHOWN = 300  # characters of an answer


class Hint(AssertionError):
    """A failed test, shown as a sentence instead of a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"Not yet. {self}"]


def ask(function: Callable[..., Any], *arguments: Any, parts: int = 1, **options: Any) -> Any:
    """Call a student's function on copies of its arguments, and check what kind of answer it gives.

    Parameters
    ----------
    function : callable
    *arguments, **options
        What it is called with; arrays are copied first, also those in lists and tuples.
    parts : int, default 1
        Number of values that it should return, as a tuple if there are several.

    Raises
    ------
    Hint
        If the function is not written yet, divides by 0, returns None, or not so many values.
    """
    copies = [_copy_of(argument) for argument in arguments]
    options = {key: _copy_of(option) for key, option in options.items()}
    name = getattr(function, "__name__", "your function")
    with contextlib.redirect_stderr(io.StringIO()):  # a warning is not an error
        try:
            answer = function(*copies, **options)
        except NotImplementedError:
            raise Hint(f"{name}, or what it calls, is not written yet.") from None
        except ZeroDivisionError:
            raise Hint(f"{name} divides by 0: which of its divisors may be 0?") from None
    if answer is None:
        raise Hint(f"{name} returned None: does it end with a return?")
    if parts > 1 and not (isinstance(answer, tuple) and len(answer) == parts):
        raise Hint(f"{name} should return a tuple of {parts} values.")
    return answer


def check(
    answer: Any,
    expected: Any,
    hint: str,
    *,
    show: bool = True,
    rtol: float = 1e-9,
    atol: float = 1e-9,
) -> None:
    """Compare an answer with what is expected: a number, an array, a truth value or a word.

    Parameters
    ----------
    answer, expected
        Numbers and arrays are equal within `rtol` and `atol`; truth values and words exactly.
    hint : str
        What the student is told when they differ.
    show : bool, default True
        Whether the two are shown as well; hidden tests do not.

    Raises
    ------
    Hint
        If they differ, in kind, shape or value.
    """
    values = ""
    if show:
        told = str(_without_types(answer))[:MOST_SHOWN]
        values = f"\n  your answer: {told}\n  expected:    {_without_types(expected)}"
    if isinstance(expected, str | bool | np.bool_):
        if isinstance(answer, np.ndarray) and answer.ndim == 0:
            answer = answer.item()
        kinds = (str,) if isinstance(expected, str) else (bool, np.bool_)
        if not isinstance(answer, kinds):
            wanted = "a word" if isinstance(expected, str) else "True or False"
            raise Hint(f"The answer should be {wanted}, not {type(answer).__name__}. {hint}")
        if answer != expected:
            raise Hint(hint + values)
        return
    expected = np.asarray(expected, dtype=float)
    try:
        got = np.asarray(answer)
        if got.dtype.kind in "SU" or (got.dtype.kind == "c" and got.imag.any()):
            raise TypeError
        got = np.asarray(got.real if got.dtype.kind == "c" else got, dtype=float)
    except (TypeError, ValueError):
        raise Hint(f"The answer is a {type(answer).__name__}, not numbers. {hint}") from None
    if got.shape != expected.shape:
        raise Hint(f"The answer has shape {got.shape}, expected {expected.shape}. {hint}")
    if not np.allclose(got, expected, rtol=rtol, atol=atol):
        raise Hint(hint + values)


def _without_types(value: Any) -> Any:
    """Return a value whose text shows NumPy's numbers, also in lists and tuples, as numbers."""
    if type(value) in (list, tuple):
        return type(value)(map(_without_types, value))
    return value.item() if isinstance(value, np.generic) else value


def _copy_of(value: Any) -> Any:
    plain = isinstance(value, np.ndarray | list | tuple | dict | set)
    return copy.deepcopy(value) if plain else value


def check_keeps(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Check that a student's function leaves the arrays that it is given as they were.

    Raises
    ------
    Hint
        If it changed one.
    """
    given = [_copy_of(argument) for argument in arguments]
    function(*given, **options)
    for now, before in zip(given, arguments, strict=True):
        if isinstance(before, np.ndarray) and not np.array_equal(now, before):
            raise Hint(
                "Your function changed one of the arrays it was given: "
                "work on a copy (w = w.copy()), or write w = w * c instead of w *= c."
            )


class _Counted(np.ndarray):
    """An array, or a part of one, that notes how many of its numbers each operation reads."""

    reads: list[int]
    whole: int  # the size of the array that it is, or is a part of

    def __array_finalize__(self, parent: Any) -> None:
        self.reads = getattr(parent, "reads", [])
        self.whole = getattr(parent, "whole", self.size)

    def __deepcopy__(self, memo: Any) -> _Counted:
        return self.copy()

    def _note(self, arguments: Sequence[Any]) -> None:
        self.reads.append(sum(a.size for a in arguments if isinstance(a, _Counted)))

    def _made(self, result: Any) -> Any:
        """Return a result, which counts in its turn if it may hold all of the array."""
        result = _plain(result)
        if not isinstance(result, np.ndarray) or result.size < self.whole:
            return result
        return _counted(result, self.reads)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        self._note(inputs)
        if "out" in options:
            options["out"] = tuple(_plain(a) for a in options["out"])
        return self._made(getattr(ufunc, method)(*(_plain(a) for a in inputs), **options))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        self._note(arguments)
        return self._made(super().__array_function__(function, types, arguments, options))

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other, out)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Counted) else value


def _counted(array: np.ndarray, reads: list[int]) -> _Counted:
    part = array.view(_Counted)
    part.reads, part.whole = reads, part.size
    return part


def counted(array: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return a copy of an array that counts, and the list of how much was read of it.

    What each operation of NumPy reads of the array, of its parts, or of an array as large that was
    made of it, goes into the list: work is counted in tests, and not timed.
    """
    reads: list[int] = []
    return _counted(np.array(array), reads), reads


@contextlib.contextmanager
def counted_zeros() -> Iterator[list[int]]:
    """Let np.zeros make arrays that count, as long as the context lasts.

    Yields
    ------
    list of int
        How much was read of them, as for `counted`.
    """
    reads: list[int] = []
    zeros = np.zeros

    def make(*arguments: Any, **options: Any) -> np.ndarray:
        return _counted(zeros(*arguments, **options), reads)

    vars(np)["zeros"] = make
    try:
        yield reads
    finally:
        vars(np)["zeros"] = zeros


def lines_of(order: Any) -> list[str]:
    """Return the letters of the lines that a student put in order.

    Raises
    ------
    Hint
        If the order is no list or tuple of words.
    """
    if not isinstance(order, list | tuple) or not all(isinstance(line, str) for line in order):
        raise Hint('The order is a list of letters in quotation marks, such as ["B", "A", "C"].')
    return list(order)


def check_order(
    order: Sequence[str],
    follows: Mapping[str, str | Sequence[str]],
    left_out: Mapping[str, str],
    hint: str,
    twins: Mapping[str, str] | None = None,
) -> None:
    """Check the order in which a student put the lines of a proof.

    Parameters
    ----------
    order : sequence of str
        The letters of the lines, in the student's order.
    follows : mapping from str to str or sequence of str
        Each line that the proof needs, with the lines that must stand before it.
    left_out : mapping from str to str
        Each line that the proof must not use, with what is wrong with it.
    hint : str
        What is said of a line that stands before one it follows from.
    twins : mapping from str to str, optional
        Wrong lines that another test has told of, with the right ones in whose place they stand:
        here they count as these, and a line that stands twice as one.

    Raises
    ------
    Hint
        If lines are missing, twice, wrong, or before what they follow from.
    """
    order = lines_of(order)
    if twins:
        order = list(dict.fromkeys(twins.get(line, line) for line in order))
    unknown = [line for line in order if line not in {*follows, *left_out}]
    if unknown:
        raise Hint(f"There is no line {unknown[0][:MOST_SHOWN]!r}.")
    twice = [line for line in follows if order.count(line) > 1]
    if twice:
        raise Hint(f"Line {twice[0]} stands twice, and each line of the proof is needed once.")
    wrong = [line for line in order if line in left_out]
    if wrong:
        raise Hint(left_out[wrong[0]])
    place = {line: at for at, line in enumerate(order)}
    if len(place) < len(follows):
        raise Hint(f"The proof needs {len(follows)} lines, and you have {len(place)} of them.")
    for line, before in follows.items():
        if any(place[earlier] > place[line] for earlier in before):
            raise Hint(hint)


def fresh_rng(key: int) -> np.random.Generator:
    """Return a generator for a hidden test's instances, from the seed that the instructor sets.

    The seed is the integer in the environment variable PEGASOS_COURSE_SEED, 0 without it; the
    grader sets it there from `IsolatedGrade.seed` of its configuration.

    Parameters
    ----------
    key : int
        Another number for each test, so that tests draw independently.

    Raises
    ------
    ValueError
        If the variable holds no nonnegative integer.
    """
    text = os.environ.get(SEED_VARIABLE, "0")
    if not text.isdecimal():
        raise ValueError(f"{SEED_VARIABLE} must be a nonnegative integer, got {text!r}")
    return np.random.default_rng([int(text), key])
