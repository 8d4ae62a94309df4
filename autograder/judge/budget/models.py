"""Parameter counts of published models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Llama:
    """Parameter counts of a Llama-style decoder from its published sizes (arXiv 2302.13971, 2407.21783)."""

    hidden: int
    ffn: int
    layers: int
    vocab: int
    kv_fraction: Fraction = Fraction(1)  # key and value width over hidden: 1 without grouped queries

    @property
    def block(self) -> int:
        """Query and output, key and value, the three matrices of the gated MLP, two norms."""
        h = self.hidden
        return int(2 * h * h + 2 * h * h * self.kv_fraction) + 3 * h * self.ffn + 2 * h

    @property
    def embedding(self) -> int:
        return self.vocab * self.hidden

    @property
    def root(self) -> int:
        """What is left to the root unit when each block is a unit: embedding, last norm, output head."""
        return 2 * self.embedding + self.hidden

    @property
    def params(self) -> int:
        return self.layers * self.block + self.root


LLAMA_7B = Llama(hidden=4096, ffn=11008, layers=32, vocab=32000)
LLAMA3_8B = Llama(hidden=4096, ffn=14336, layers=32, vocab=128256, kv_fraction=Fraction(1, 4))


def gpt_block(hidden: int) -> int:
    """Parameters of the matrices of a GPT block, 12 h^2: four h x h for attention, two h x 4h for the MLP."""
    return 12 * hidden * hidden
