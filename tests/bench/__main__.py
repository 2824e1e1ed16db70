"""All benchmarks, as one table: `make bench`."""

from tests.bench import bench_lsp, bench_predictor, bench_service


def main() -> None:
    rows = [("what", "figure", "wanted")]
    for bench in (bench_predictor, bench_service, bench_lsp):
        rows += bench.rows()
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip(), flush=True
        )


if __name__ == "__main__":
    main()
