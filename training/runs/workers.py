"""Workers: the processes that share one training run. Each has the same weights and takes a part of each batch.

Two workers with batches of 64 train as one worker with batches of 128: gradients are weighted by the edits of each part. The
process group comes from Ray Train (`--workers N`) or from torchrun.
"""

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from training.data.batches import Rows


def join_group() -> None:
    """Join the processes that torchrun started; do nothing in a process that it did not start."""
    if distributed.is_available() and distributed.is_torchelastic_launched():
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


class Workers:
    """This process among those that train together; without a process group it is alone."""

    def __init__(self) -> None:
        self.is_group = distributed.is_available() and distributed.is_initialized()
        self.rank = distributed.get_rank() if self.is_group else 0
        self.count = distributed.get_world_size() if self.is_group else 1

    @property
    def is_first(self) -> bool:
        """True for the one that measures, reports and writes."""
        return self.rank == 0

    def share_gradients(self, network: nn.Module) -> nn.Module:
        """Wrap a network so that a backward pass leaves the mean of all workers' gradients."""
        if not self.is_group:
            return network
        return DistributedDataParallel(network)

    def take_part(self, rows: Rows) -> Rows:
        """Take this worker's part of a batch. In a batch smaller than the group, some take a row that does not count."""
        part = rows[self.rank :: self.count]
        return part if len(part) else rows[:1]

    def weigh(self, edits: int, rows: int) -> tuple[float, int]:
        """Return the weight of this worker's loss, and the number of edits in the whole batch.

        With these weights the mean of all workers is the mean over all edits.
        """
        if not self.is_group:
            return 1.0, edits
        own = edits if self.rank < rows else 0
        total = torch.tensor(own)
        distributed.all_reduce(total)
        return own * self.count / max(1, int(total)), int(total)

    def agree_on(self, value: float) -> float:
        """Give the first worker's value to all."""
        if not self.is_group:
            return value
        shared = torch.tensor(value, dtype=torch.float64)
        distributed.broadcast(shared, src=0)
        return float(shared)
