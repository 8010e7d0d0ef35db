"""Named random streams: counter-based, keyed by (root seed, purpose, ids), vectorised.

Two runs that differ in the mechanism, in delta or in one report make the same draw for the same purpose and
ids, whatever else happens in between (common random numbers). Nothing is stored: a draw is a keyed hash.

The hash absorbs one 64-bit word per id and passes the state through the finaliser of SplitMix64 (Steele, Lea &
Flood 2014, "Fast splittable pseudorandom number generators", constants of Stafford's variant 13) after each;
the 128-bit key is the BLAKE2b digest of seed and purpose, one half added before each round, the other at the end.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from ..agents.ports import FloatArray, IntArray

__all__ = ["KeyedDraws", "child_seed"]

_MASK = (1 << 64) - 1
_MULTIPLIER_1 = 0xBF58476D1CE4E5B9
_MULTIPLIER_2 = 0x94D049BB133111EB
_GOLDEN = 0x9E3779B97F4A7C15
_TO_UNIT = 2.0**-52


def _array(word: int) -> np.ndarray:
    return np.array([word], dtype=np.uint64)


# operands made once: in an array of a few elements their conversion would cost more than the arithmetic
_MULTIPLIER_1_ARRAY, _MULTIPLIER_2_ARRAY = _array(_MULTIPLIER_1), _array(_MULTIPLIER_2)
_GOLDEN_ARRAY = _array(_GOLDEN)
_12, _27, _30, _31 = map(_array, (12, 27, 30, 31))


def _mix(state: np.ndarray) -> None:
    """SplitMix64's finaliser on an array of uint64 with at least one axis, in place."""
    state ^= state >> _30
    state *= _MULTIPLIER_1_ARRAY
    state ^= state >> _27
    state *= _MULTIPLIER_2_ARRAY
    state ^= state >> _31


def _mix_scalar(state: int) -> int:
    state ^= state >> 30
    state = (state * _MULTIPLIER_1) & _MASK
    state ^= state >> 27
    state = (state * _MULTIPLIER_2) & _MASK
    return state ^ (state >> 31)


@lru_cache(maxsize=4096)
def _key(root_seed: int, purpose: str) -> tuple[int, int]:
    digest = blake2b(purpose.encode(), digest_size=16, key=root_seed.to_bytes(16, "little")).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


@lru_cache(maxsize=256)
def _keys(root_seed: int, purposes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Both halves of the keys of several purposes, each of shape (purposes, 1)."""
    keys = np.array([_key(root_seed, purpose) for purpose in purposes], dtype=np.uint64)
    return keys[:, :1], keys[:, 1:]


def child_seed(root_seed: int, purpose: str, *keys: int) -> int:
    """A root seed for a part of a study (a pair, a replicate): 64 bits, keyed like every draw."""
    words = b"".join((k & _MASK).to_bytes(8, "little") for k in keys)
    key = root_seed.to_bytes(16, "little")
    return int.from_bytes(
        blake2b(purpose.encode() + b"\0" + words, digest_size=8, key=key).digest(), "little"
    )


def _hashed(first: np.ndarray, second: np.ndarray, ids: Sequence[int | IntArray]) -> FloatArray:
    """Uniforms from both halves of the keys, which `ids` are broadcast against."""
    state = first.copy()
    for i in ids:
        state = state ^ np.asarray(i, dtype=np.int64).astype(np.uint64)
        state += _GOLDEN_ARRAY
        _mix(state)
    state += second
    _mix(state)
    state >>= _12
    # the middle of one of 2**52 equal cells, exact in binary64: never 0, never 1
    result: FloatArray = (state.astype(np.float64) + 0.5) * _TO_UNIT
    return result


class KeyedDraws:
    """Random numbers keyed by a root seed, a purpose and ids.

    Parameters
    ----------
    root_seed
        A whole number from 0 to 2**128 - 1.

    Examples
    --------
    >>> draws = KeyedDraws(1)
    >>> people = np.arange(3)
    >>> bool(np.all(draws.uniforms("notice", people, 7) == draws.uniforms("notice", people, 7)))
    True
    >>> float(draws.uniforms("notice", people, 7)[2]) == draws.uniform("notice", 2, 7)
    True
    """

    def __init__(self, root_seed: int) -> None:
        if not 0 <= root_seed < 1 << 128:
            raise ValueError(f"root_seed must be a whole number from 0 to 2**128 - 1, got {root_seed}")
        self.root_seed = root_seed

    def uniforms(self, purpose: str, *ids: int | IntArray) -> FloatArray:
        """Uniforms on the open interval (0, 1): shape is that of the broadcast `ids` (integers)."""
        first, second = _key(self.root_seed, purpose)
        result = _hashed(_array(first), _array(second), ids)
        # numbers alone have been hashed as an array of one
        return result if any(np.ndim(i) for i in ids) else result[0]

    def several(self, purposes: Sequence[str], *ids: int | IntArray) -> FloatArray:
        """Row i is `uniforms(purposes[i], *ids)`, bit for bit; shape (purposes, n) for `ids` of shape (n,) or ().

        At a time, since for a few ids each step of the hash costs as much for one purpose as for many.
        """
        first, second = _keys(self.root_seed, tuple(purposes))
        return _hashed(first, second, ids)

    def uniform(self, purpose: str, *ids: int) -> float:
        """The scalar face of `uniforms`, bit for bit the same number."""
        state, second = _key(self.root_seed, purpose)
        for word in ids:
            state = _mix_scalar(((state ^ (word & _MASK)) + _GOLDEN) & _MASK)
        state = _mix_scalar((state + second) & _MASK)
        return ((state >> 12) + 0.5) * _TO_UNIT

    def exponentials(self, purpose: str, *ids: int | IntArray) -> FloatArray:
        """Unit exponentials by inversion, keyed as `uniforms`."""
        return -np.log(self.uniforms(purpose, *ids))

    def exponential(self, purpose: str, *ids: int) -> float:
        """One unit exponential, keyed as `uniform`."""
        return float(-np.log(self.uniform(purpose, *ids)))

    def generator(self, purpose: str, *keys: int) -> np.random.Generator:
        """A numpy generator (Philox) for blocks of draws."""
        words = b"".join((k & _MASK).to_bytes(8, "little") for k in keys)
        digest = blake2b(
            purpose.encode() + b"\0" + words, digest_size=16, key=self.root_seed.to_bytes(16, "little")
        ).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
