"""The simulation of a day: a queue that is known, and delays that grow with the load."""

import numpy as np

from tests.bench.capacity import Costs, draw_arrivals, read_gaps, replay_day, wait_in_queue


def test_a_queue_of_one_core_waits_for_those_before() -> None:
    waits = wait_in_queue(np.array([0.0, 1.0, 1.0, 9.0]), np.array([2.0, 2.0, 1.0, 1.0]), cores=1)
    assert waits.tolist() == [0.0, 1.0, 3.0, 0.0]
    assert wait_in_queue(np.array([0.0, 1.0, 1.0]), np.array([2.0, 2.0, 1.0]), cores=2).tolist() == [
        0.0,
        0.0,
        1.0,
    ]


def test_the_mean_wait_is_that_of_the_textbook() -> None:
    """An M/M/1 queue at 70 % waits rho / (1 - rho) services on average."""
    random = np.random.default_rng(1)
    arrivals = random.exponential(1 / 0.7, 200_000).cumsum()
    waits = wait_in_queue(arrivals, random.exponential(1.0, 200_000), cores=1)
    assert abs(waits.mean() - 0.7 / 0.3) < 0.25


def test_people_type_a_fifth_of_the_time() -> None:
    keys, _ = draw_arrivals(np.random.default_rng(0), read_gaps(), 50, 3600.0)
    typing = len(keys) * read_gaps().mean() / (50 * 3600.0)
    assert 0.1 < typing < 0.3


def test_more_people_wait_longer() -> None:
    costs = Costs(0.008, 0.06, 0.0)
    few, many = replay_day(5, 1, costs), replay_day(60, 1, costs)
    assert few["busiest"] < many["busiest"]
    assert few["p99"] <= many["p99"]
