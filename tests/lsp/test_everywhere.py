from hypothesis import given
from hypothesis import strategies as st

from lsp.everywhere import changes_from_edits
from model.editing.burst import Burst
from model.editing.change import Change
from model.editing.edits import Slots
from model.editing.recorder import Recorder
from model.editing.token_text import TokenText
from tests.tokenizing import small_tokenizer, texts


@given(texts, st.data())
def test_the_changes_together_do_what_the_predictions_do_one_after_another(
    text: str, data: st.DataObject
) -> None:
    tokenizer = small_tokenizer()
    recorder = Recorder(tokenizer, text)
    start = data.draw(st.integers(0, len(text)))
    recorder.record([Change(start, start, "(")], 1.0)
    recorder.move_cursor(-1)
    before = recorder.text.text
    token_text, slots = TokenText(tokenizer, before), Slots(recorder.state)
    for edit in recorder.edits:
        slots.apply(edit)
    predicted, confidences = [], []
    for number in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(token_text)))
        end = data.draw(st.integers(start, min(len(token_text), start + 5)))
        burst = Burst(token_text, token_text.replace(Change(start, end, data.draw(texts))))
        edits = [slots.apply_explicit(edit) for edit in burst.edits()]
        predicted += edits
        confidences += [1 - number / 10] * len(edits)
    changes = changes_from_edits(recorder.state, recorder.edits, predicted, confidences, tokenizer)
    after = before
    for each in reversed(changes):
        after = after[: each.change.start] + each.change.text + after[each.change.end :]
    assert after == token_text.text
    borders = [border for each in changes for border in each.change[:2]]
    assert borders == sorted(borders)
    assert all(0.7 <= each.confidence <= 1 for each in changes)
