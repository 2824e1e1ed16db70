"""Instances from the versions of a file, in the product's setting and in the paper's."""

from itertools import pairwise

from model.editing.edits import END, apply, edits_between, implicit_from_explicit
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.data.dataset import Kind
from training.sources.git import FileVersions, Modification
from training.trajectories.instances import PaperInstanceMaker, ProductInstanceMaker
from training.trajectories.mining_setting import PAPER, PRODUCT, MiningSetting

TEXTS = (SAMPLE, SAMPLE.replace("print", "log"), SAMPLE.replace("print", "log").replace("limit", "size"))


def versions(*texts: str | None) -> FileVersions:
    return FileVersions(
        tuple(Modification(f"{n}" * 40, "a.py", "", "") for n in range(len(texts) - 1)), texts
    )


def test_every_trajectory_of_the_product_ends_with_stop_and_decodes() -> None:
    maker = ProductInstanceMaker(
        MiningSetting(keep_single=1.0, keep_new_code=1.0, limit_edits=10_000), small_tokenizer(), seed=0
    )
    mined = list(maker.make(versions(*TEXTS)))
    assert {Kind.HISTORY, Kind.HISTORY_SEVERAL} & {one.kind for one in mined}
    for one in mined:
        assert one.instance.edits[-1].content == END
        assert one.instance.conditioning >= 1
        text = small_tokenizer().decode(apply(one.instance.state, one.instance.edits)[1:-1])
        if one.kind in (Kind.HISTORY, Kind.HISTORY_SEVERAL):
            assert any(text in version for version in TEXTS[1:])


def test_the_same_change_and_its_reversal_are_mined_once() -> None:
    maker = ProductInstanceMaker(PRODUCT, small_tokenizer(), seed=0)
    list(maker.make(versions(TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[1])))
    assert maker.counts["duplicate"] == 2


def test_secrets_binaries_and_generated_files_are_counted_and_left_out() -> None:
    maker = ProductInstanceMaker(MiningSetting(refactorings=0), small_tokenizer(), seed=0)
    secret = 'key = "AKIA' + "A" * 16 + '"\n'
    assert list(maker.make(versions("a = 1\n" + secret, "a = 2\n" + secret))) == []
    assert list(maker.make(versions("a = 1\n", None, "a = 3\n"))) == []
    assert list(maker.make(versions("# @generated\na = 1", "# @generated\na = 2"))) == []
    assert {"secret", "binary or too large", "generated"} <= set(maker.counts)


def test_the_paper_s_instances_are_the_plain_differences_of_the_versions() -> None:
    tokenizer = small_tokenizer()
    maker = PaperInstanceMaker(PAPER, tokenizer, seed=0)
    texts = ("a = 1\nb = 2\n", "a = 1\nc = 2\n", "d = 1\nc = 3\n")
    (mined,) = maker.make(versions(*texts))
    states = [(1, *tokenizer.encode(text), 2) for text in texts]
    explicit = [edit for old, new in pairwise(states) for edit in edits_between(old, new)]
    assert mined.instance.state == states[0]
    assert list(mined.instance.edits) == implicit_from_explicit(states[0], explicit)
    assert mined.instance.conditioning == 0


def test_the_paper_s_instances_end_where_a_version_does_not_fit() -> None:
    maker = PaperInstanceMaker(
        MiningSetting(name="paper", limit_state=40, limit_edits=100), small_tokenizer(), seed=0
    )
    mined = list(maker.make(versions("a = 1\n", "a = 2\n", "a = 2\n" * 50, "a = 3\n", "a = 4\n")))
    assert len(mined) == 2
    assert maker.counts["too large"] == 2
