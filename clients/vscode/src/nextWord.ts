/** The next word of a change, for those who take a suggestion word by word. */

import { type Difference, differenceOf, wordsOf } from "./display";
import { after } from "./positions";
import type { Position, Suggestion } from "./protocol";

/** Signs in front of a word belong to it: ", timeout" is one step. */
const FIRST_WORD = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u;

export interface WordStep {
    readonly difference: Difference;
    /** Where the new text ends when the step is made. */
    readonly end: Position;
    /** Whether this step is all that is left. */
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
