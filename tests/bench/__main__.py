"""All benchmarks, as one table: `make bench`. With `--device cuda`: batch size against latency on a GPU."""

import argparse

from tests.bench import bench_lsp, bench_predictor, bench_service, bench_together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="measure steps of several histories there, only"
    )
    device = parser.parse_args().device
    rows = [("what", "figure", "wanted")]
    if device is not None:
        rows += bench_together.rows(device)
    else:
        for bench in (bench_predictor, bench_service, bench_lsp):
            rows += bench.rows()
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip(), flush=True
        )


if __name__ == "__main__":
    main()
