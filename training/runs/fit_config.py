"""The options of a training run."""

from dataclasses import dataclass, field

from model.config import MODELS, ModelConfig
from training.data.examples import Examples
from training.paper.instances import STRING_LENGTH

_SYNTHETIC_TOKENS = STRING_LENGTH + 2  # with start and end


@dataclass(frozen=True)
class FitConfig:
    """The options of one run."""

    model: str
    data: str
    minutes: float | None = None
    steps: int | None = None
    hidden: int = 128
    lr: float = 2e-3
    warmup: int = 100  # steps until the learning rate is reached
    batch: int = 64
    batch_tokens: int = 32_768  # bounds memory, not the synthetic tasks
    seed: int = 0
    average: float = 0.0  # decay of a running average of the weights, which is then what is kept; 0 is none
    jump_weight: float = 1.0  # of the position of an edit that begins a hunk: the hard and the useful ones
    crop: int = 0  # tokens to which states are cut down at least, at random; 0: they are not
    dev_count: int = 1_000  # instances of the dev split that are looked at
    evaluations: int = 25  # of the dev split, evenly over the budget
    threads: int = 0  # 0: as torch likes
    device: str = "cpu"
    init: str | None = None  # a run or a bundle to take the first weights from
    model_options: dict[str, int] = field(default_factory=dict)  # further fields of the ModelConfig

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"unknown model {self.model!r}; the known ones are {', '.join(MODELS)}")
        if (self.minutes is None) == (self.steps is None):
            raise ValueError("give the budget either in minutes or in steps")

    def model_config(self, examples: Examples) -> ModelConfig:
        options = dict(self.model_options)
        if examples.is_synthetic and self.model == "IR":
            options.setdefault("limit_tokens", _SYNTHETIC_TOKENS)  # its table of positions need not be larger
        elif not examples.is_synthetic:
            options.setdefault("limit_tokens", max(1024, int(examples.state_lengths().max())))
            options.setdefault("limit_edits", max(128, int(examples.edit_lengths().max())))
        return ModelConfig(self.model, examples.vocabulary_size, self.hidden, **options)
