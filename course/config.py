"""The sizes of a DistilBERT-shaped model."""

from dataclasses import dataclass, fields

from course.errors import ConfigError

_COUNTS = ("n_heads", "n_layers", "dim", "hidden_dim", "max_position_embeddings", "vocab_size", "n_classes")


@dataclass(frozen=True)
class Config:
    """Sizes of the model; the defaults are DistilBERT's (Sanh et al. 2019, arXiv:1910.01108).

    n_heads: attention heads in each block
    n_layers: attention blocks in the encoder
    pad_token_id: id of the token that fills up short sentences of a batch
    dim: length of the vector that stands for one token
    hidden_dim: width of the feed-forward network inside a block
    max_position_embeddings: longest sentence, in tokens
    vocab_size: number of different tokens
    eps: what LayerNorm adds to the variance
    n_classes: number of logits
    device: where the model computes, ``"cpu"`` or ``"cuda"``

    Raises ConfigError where a size is not a positive whole number, or ``dim`` cannot be split into ``n_heads``.
    """

    n_heads: int = 12
    n_layers: int = 6
    pad_token_id: int = 0
    dim: int = 768
    hidden_dim: int = 3072
    max_position_embeddings: int = 512
    vocab_size: int = 30522
    eps: float = 1e-12
    n_classes: int = 2
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"Config: {name} must be a whole number of at least 1, not {value!r}.")
        if not 0 <= self.pad_token_id < self.vocab_size:
            raise ConfigError(
                f"Config: pad_token_id must be an id of the vocabulary, 0 to {self.vocab_size - 1}, "
                f"not {self.pad_token_id!r}."
            )
        if self.dim % self.n_heads:
            raise ConfigError(
                f"Config: dim must be a multiple of n_heads, for every head gets an equal part of the vector; "
                f"dim={self.dim} cannot be split into n_heads={self.n_heads} parts."
            )

    @property
    def attention_head_size(self) -> int:
        """Length of the query, key and value vector of one head."""
        return self.dim // self.n_heads

    @property
    def all_head_size(self) -> int:
        """Length of all heads' vectors laid end to end."""
        return self.n_heads * self.attention_head_size

    @classmethod
    def distilbert(cls) -> "Config":
        """DistilBERT base: 66,955,010 parameters."""
        return cls()

    @classmethod
    def mini(cls) -> "Config":
        """The checkpoint that comes with the course: as many heads and layers, vectors half as long."""
        return cls(dim=384, hidden_dim=1536)

    def __str__(self) -> str:
        """One attribute a line, for printing in a notebook."""
        names = [field.name for field in fields(self)] + ["attention_head_size", "all_head_size"]
        return "\n".join(f"{name:24} {getattr(self, name)}" for name in names)
