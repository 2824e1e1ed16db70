"""The program: from a real git repository to a dataset that reads back as the texts it was made of."""

import json
from pathlib import Path

import pytest

from model.editing.edits import END, apply
from model.editing.tokenizer import Tokenizer
from tests.training.sources.test_git import git
from tests.training.tokenizers import SAMPLE, small_tokenizer
from training.data.dataset import Dataset, Kind
from training.mine import main


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """Two repositories with some history each."""
    folder = tmp_path / "mirrors"
    for name in ("owner/one", "owner/two"):
        path = folder / name
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main", ".")
        texts = [
            SAMPLE,
            SAMPLE.replace("name", "key"),
            SAMPLE.replace("name", "key").replace('"loaded", ', ""),
        ]
        texts += [f"{texts[-1]}\n# {name} {number}\nassert value\n" for number in range(3)]
        for number, text in enumerate(texts):
            (path / "reader.py").write_text(text)
            (path / "other.go").write_text(f"package {path.name}\nfunc f() {{ g({number}) }}\n")
            git(path, "add", ".")
            git(path, "commit", "-q", "-m", f"commit {number}")
    return folder


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(small_tokenizer().json, encoding="utf-8")
    return path


def corpus_of(mirrors: Path, held_out: str = "") -> Path:
    lines = [f"held_out = ['{held_out}']"]
    for name, split in (("owner/one", "train"), ("owner/two", "dev")):
        commit = git(mirrors / name, "rev-parse", "HEAD")
        lines += [
            "[[repository]]",
            f'name = "{name}"',
            f'commit = "{commit}"',
            'licence = "MIT"',
            f'split = "{split}"',
        ]
    path = mirrors / "corpus.toml"
    path.write_text("\n".join(lines))
    return path


def test_a_corpus_becomes_a_dataset_with_its_provenance(
    mirrors: Path, tokenizer: Path, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    arguments = [
        "git",
        "--corpus",
        str(corpus_of(mirrors)),
        "--mirrors",
        str(mirrors),
        "--tokenizer",
        str(tokenizer),
    ]
    assert main([*arguments, "--out", str(out), "--processes", "1", "--refactorings", "1"]) == 0
    dataset = Dataset.load(out)
    assert dataset.names == ["train", "dev"]
    assert [source["repository"] for source in dataset.manifest["sources"]] == ["owner/one", "owner/two"]
    assert dataset.manifest["counts"]["file pairs"] == 20
    vocabulary = Tokenizer((out / "tokenizer.json").read_text(encoding="utf-8"))
    train = dataset.split("train")
    assert {Kind.HISTORY, Kind.RENAME} & set(train.kinds.tolist())
    for instance in train:
        assert vocabulary.decode(apply(instance.state, instance.edits)[1:-1])
    assert any(instance.edits[-1].content == END for instance in train)
    assert not (tmp_path / "data.parts").exists()


def test_mining_goes_on_where_it_was_broken_off(mirrors: Path, tokenizer: Path, tmp_path: Path) -> None:
    arguments = [
        "git",
        str(mirrors / "owner/one"),
        "--tokenizer",
        str(tokenizer),
        "--processes",
        "1",
        "--keep-parts",
        "--split",
        "train",
    ]
    whole, folder = tmp_path / "data", tmp_path / "data.parts" / "one.train"
    assert main([*arguments, "--out", str(whole)]) == 0
    before = list(Dataset.load(whole).split("train"))
    written = (folder / "part-000" / "state.npy").stat().st_mtime_ns
    (folder / "done").unlink()
    assert main([*arguments, "--out", str(whole)]) == 0
    assert list(Dataset.load(whole).split("train")) == before
    assert (folder / "part-000" / "state.npy").stat().st_mtime_ns == written
    (folder / "done").unlink()
    assert main([*arguments, "--out", str(whole), "--finished"]) == 0
    assert list(Dataset.load(whole).split("train")) == before
    assert not (folder / "done").exists()
    more = [arguments[0], str(mirrors / "owner/two"), *arguments[1:]]
    assert main([*more, "--out", str(whole), "--finished"]) == 0
    assert [source["repository"] for source in Dataset.load(whole).manifest["sources"]] == ["one"]


def test_the_newest_tenth_of_a_single_repository_is_dev(
    mirrors: Path, tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = mirrors / "owner/one"
    arguments = [
        "git",
        str(repository),
        "--tokenizer",
        str(tokenizer),
        "--processes",
        "1",
        "--refactorings",
        "0",
    ]
    assert main([*arguments, "--out", str(tmp_path / "data")]) == 0
    sources = Dataset.load(tmp_path / "data").manifest["sources"]
    pairs = {source["split"]: source["counts"]["file pairs"] for source in sources}
    assert pairs == {"train": 8, "dev": 2}  # of five commits that change two files each, one is held out
    git(repository, "checkout", "-q", "--orphan", "new")
    git(repository, "commit", "-q", "-m", "the only one")
    assert main([*arguments, "--out", str(tmp_path / "data")]) == 2
    assert "too few to hold the newest out" in capsys.readouterr().err


def test_parts_of_other_settings_are_mined_anew(mirrors: Path, tokenizer: Path, tmp_path: Path) -> None:
    arguments = [
        "git",
        str(mirrors / "owner/one"),
        "--tokenizer",
        str(tokenizer),
        "--processes",
        "1",
        "--keep-parts",
    ]
    assert main([*arguments, "--out", str(tmp_path / "data")]) == 0
    assert main([*arguments, "--out", str(tmp_path / "data"), "--limit-tokens", "99"]) == 0
    assert max(Dataset.load(tmp_path / "data").split("train").state_lengths) <= 99


def test_without_a_repository_there_is_nothing_to_do(
    tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["git", "--tokenizer", str(tokenizer), "--out", str(tmp_path / "data")]) == 2
    assert "no repository is given" in capsys.readouterr().err


def test_the_paper_s_setting_takes_small_files_and_plain_differences(
    mirrors: Path, tokenizer: Path, tmp_path: Path
) -> None:
    arguments = ["git", str(mirrors / "owner/one"), "--tokenizer", str(tokenizer), "--processes", "1"]
    assert (
        main([*arguments, "--setting", "paper", "--language", "python", "--out", str(tmp_path / "data")]) == 0
    )
    split = Dataset.load(tmp_path / "data").split("train")
    assert len(split) > 0
    known = {SAMPLE, SAMPLE.replace("name", "key")}
    for instance in split:
        assert small_tokenizer().decode(instance.state[1:-1]) in known or instance.state
        assert END not in [edit.content for edit in instance.edits]
        assert len(instance.edits) <= 100


def test_held_out_repositories_are_refused(mirrors: Path, tmp_path: Path, tokenizer: Path) -> None:
    corpus = corpus_of(mirrors, held_out="owner/one")
    arguments = ["--corpus", str(corpus), "--mirrors", str(mirrors), "--tokenizer", str(tokenizer)]
    assert main(["git", *arguments, "--out", str(tmp_path / "data")]) == 2


def test_a_vocabulary_is_trained_on_repositories(mirrors: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "tokenizer.json"
    assert main(["tokenizer", str(mirrors / "owner/one"), "--vocabulary", "300", "--out", str(out)]) == 0
    vocabulary = Tokenizer(out.read_text(encoding="utf-8"))
    assert vocabulary.decode(vocabulary.encode(SAMPLE)) == SAMPLE


def test_own_saves_become_a_dataset(tmp_path: Path, tokenizer: Path) -> None:
    for number in range(12):
        folder = tmp_path / "History" / str(number)
        folder.mkdir(parents=True)
        entries = [{"id": f"{n}.py", "timestamp": n} for n in range(3)]
        (folder / "entries.json").write_text(
            json.dumps({"resource": f"file:///x/{number}.py", "entries": entries})
        )
        for n in range(3):
            (folder / f"{n}.py").write_text(SAMPLE.replace("name", f"name{number}" * n or "name"))
    out = tmp_path / "data"
    assert (
        main(["vscode-history", str(tmp_path / "History"), "--tokenizer", str(tokenizer), "--out", str(out)])
        == 0
    )
    dataset = Dataset.load(out)
    assert set(dataset.split("train").kinds.tolist()) == {Kind.SAVES}
