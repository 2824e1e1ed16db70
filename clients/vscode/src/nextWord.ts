/** The next word of a change, for those who take a suggestion word by word. */

import { type Difference, differenceOf, wordsOf } from "./display";
import { after } from "./positions";
import type { Position, Suggestion } from "./protocol";

/** Signs in front of a word belong to it: ", timeout" is one step. */
const FIRST_WORD = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u;

export interface WordStep {
    readonly difference: Difference;
    /** The end of the new text after this step. */
    readonly end: Position;
    /** True if this step completes the change. */
    readonly isLast: boolean;
}

export function nextWordOf(suggestion: Suggestion): WordStep {
    const words = wordsOf(differenceOf(suggestion));
    const first = words[0] as Difference;
    const [start] = FIRST_WORD.exec(first.addedText) as RegExpExecArray;
    const difference = start === "" ? first : { ...first, addedText: start };
    return {
        difference,
        end: after(first.removed.start, difference.addedText),
        isLast: words.length === 1 && difference.addedText === first.addedText,
    };
}
