"""A candidate's change of text as token edits of a history."""

from model.editing.change import Change
from model.editing.edits import Edit, Slots, lexical_edits_between
from model.editing.lines import segments
from model.proposals.lexical_text import LexicalText


def edits_of_change(slots: Slots, text: LexicalText, change: Change) -> tuple[Edit, ...]:
    """The implicit edits that make a change in the text of the current state."""
    tokenizer = text.tables.tokenizer
    first_line = int(text.lines[text.index_at(change.start)])
    last_line = int(text.lines[text.index_at(change.end)])
    begin, end = int(text.line_starts[first_line]), int(text.line_starts[last_line + 1])
    begin, end = max(1, begin), min(len(text) - 1, end)  # START and END are no text
    old = "".join(text.text_of(index) for index in range(begin, end))
    start = change.start - int(text.offsets[begin])
    new = old[:start] + change.text + old[start + change.end - change.start :]
    offset = int(text.starts[begin])
    old_lines = [tuple(tokenizer.encode_segment(line)) for line in segments(old)]
    new_lines = [tuple(tokenizer.encode_segment(line)) for line in segments(new)]
    known = text.tokens[offset : int(text.starts[end])].tolist()
    if [token for line in old_lines for token in line] != known:
        old_lines = [
            tuple(known)
        ]  # the state holds tokens that no text is split into, such as two blanks side by side
    explicit = lexical_edits_between(old_lines, new_lines, tokenizer.ends, offset)
    count = len(slots.edits)
    try:
        return tuple(slots.apply_explicit(edit) for edit in explicit)
    finally:
        slots.keep(count)
