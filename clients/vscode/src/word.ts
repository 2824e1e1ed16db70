/** The word that the user is typing. No `vscode` here. */

const WORD_BEFORE = /[\p{L}\p{N}_$]+$/u;
const WORD_BEHIND = /^[\p{L}\p{N}_$]/u;

/**
 * True if nothing is left to be typed at the cursor: no word ends there, or the same word stands elsewhere in the text.
 * `before` and `behind` are the texts on both sides of the cursor.
 */
export function isWordComplete(before: string, behind: string): boolean {
    const [word] = WORD_BEFORE.exec(before.slice(-LIMIT_WORD)) ?? [];
    if (word === undefined) {
        return true;
    }
    if (WORD_BEHIND.test(behind)) {
        return false; // the cursor stands in the middle of a word
    }
    const escaped = word.replaceAll("$", "\\$");
    const whole = new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped}(?![\\p{L}\\p{N}_$])`, "u");
    return whole.test(before.slice(0, -word.length)) || whole.test(behind);
}

/** Longer ones are data, not names. */
const LIMIT_WORD = 200;
