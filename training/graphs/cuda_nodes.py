"""Program: the nodes of a bundle that a GPU would leave to the CPU.

    python -m training.graphs.cuda_nodes BUNDLE

ONNX Runtime runs a node on the CPU when its CUDA provider has no kernel for the operator. The provider's library names its
kernels, so that can be checked without a GPU; onnxruntime-gpu must be installed. The judge is not checked: it stays on the CPU.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import onnx

from model.inference import graph_names as names

# The runtime itself removes the first kind; shapes are always computed on the CPU, by design.
_NO_KERNEL_NEEDED = frozenset({"Constant", "Identity", "Shape", "Size"})
# A kernel is a class: its name stands in the library after the names of its namespaces, each with its length before it.
_CLASS = re.compile(rb"N11onnxruntime(?:7contrib)?4cuda(?:7contrib)?(\d+)")
_VERSION = re.compile(r"(_\d+)+$")  # of an operator that has several kernels
_OTHER_NAMES = {"LayerNorm": ("LayerNormalization",), "Softmax": ("Softmax", "LogSoftmax")}
_LIBRARY = "capi/libonnxruntime_providers_cuda.so"


def find_library() -> Path | None:
    """Find the library of the CUDA provider; None when onnxruntime-gpu is not installed."""
    found = find_spec("onnxruntime")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / _LIBRARY
    return path if path.is_file() else None


def read_kernels(library: Path) -> set[str]:
    """Read the operators that a provider's library has kernels for."""
    content = library.read_bytes()
    result: set[str] = set()
    for found in _CLASS.finditer(content):
        text = content[found.end() : found.end() + int(found[1])].decode("latin-1")
        name = _VERSION.sub("", text)
        result.update(_OTHER_NAMES.get(name, (name,)))
    return result


def list_fallbacks(directory: Path, kernels: set[str]) -> dict[str, Counter[str]]:
    """Count the nodes without a kernel, by graph and operator."""
    graphs = [*names.GRAPHS, *map(names.together, names.SIZES_TOGETHER)]
    result = {}
    for graph in graphs:
        path = directory / f"{graph}.onnx"
        if not path.is_file():
            continue
        nodes = onnx.load(str(path), load_external_data=False).graph.node
        missing = Counter(node.op_type for node in nodes if node.op_type not in kernels | _NO_KERNEL_NEEDED)
        result[graph] = missing
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path)
    options = parser.parse_args(arguments)
    library = find_library()
    if library is None:
        print("cuda_nodes: this ONNX Runtime has no CUDA provider: install likewise[gpu]", file=sys.stderr)
        return 2
    fallbacks = list_fallbacks(options.bundle, read_kernels(library))
    for graph, missing in fallbacks.items():
        nodes = ", ".join(f"{count} {operator}" for operator, count in missing.items())
        print(f"{graph}: {nodes or 'every node has a CUDA kernel'}")
    return 1 if any(fallbacks.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
