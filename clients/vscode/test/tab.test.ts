import { describe, expect, test } from "vitest";
import manifest from "../package.json";
import { acceptKey, isInIndentation, isTabOurs, type TabFacts } from "../src/tab";

const ours: TabFacts = {
    editorTextFocus: true,
    "likewise.shown": true,
    "likewise.inIndentation": false,
    editorReadonly: false,
    editorHasSelection: false,
    editorHasMultipleSelections: false,
    suggestWidgetVisible: false,
    inlineSuggestionVisible: false,
    inlineEditIsVisible: false,
    inSnippetMode: false,
    editorTabMovesFocus: false,
};
const facts = Object.keys(ours) as (keyof TabFacts)[];

/** The clauses that we write are conjunctions of names and negated names, nothing else. */
function evaluates(when: string, values: Readonly<Record<string, boolean>>): boolean {
    return when.split(" && ").every((term) => {
        const name = term.replace(/^!/, "");
        expect(values, `${name} is not a fact of the rule`).toHaveProperty([name]);
        return term.startsWith("!") ? !values[name] : values[name];
    });
}

function keybinding(key: string) {
    const found = manifest.contributes.keybindings.filter((binding) => binding.key === key);
    expect(found).toHaveLength(1);
    return found[0] as (typeof found)[0];
}

describe("Tab", () => {
    test("is ours when a suggestion is shown and nothing speaks against it", () => {
        expect(isTabOurs(ours)).toBe(true);
    });

    test.each(facts)("is not ours when %s is the other way round", (name) => {
        expect(isTabOurs({ ...ours, [name]: !ours[name] })).toBe(false);
    });

    test("means the same in package.json, whatever the facts", () => {
        const { when } = keybinding("tab");
        for (let bits = 0; bits < 2 ** facts.length; bits++) {
            const values = Object.fromEntries(
                facts.map((name, index) => [name, Boolean(bits & (1 << index))]),
            );
            expect(evaluates(when, values)).toBe(isTabOurs(values as unknown as TabFacts));
        }
    });

    test("has a second key that needs nothing but a suggestion and an editor", () => {
        expect(keybinding("alt+l")).toMatchObject({
            command: "likewise.accept",
            when: "editorTextFocus && likewise.offered && !editorReadonly",
        });
    });
});

describe("the key that is written beside a suggestion", () => {
    test("is Tab when nothing is known to speak against it", () => {
        expect(acceptKey({})).toBe("Tab");
        expect(acceptKey({ editorHasMultipleSelections: false, suggestWidgetVisible: false })).toBe("Tab");
    });

    test.each(facts)("is Alt+L when %s is the other way round", (name) => {
        expect(acceptKey({ [name]: !ours[name] })).toBe("Alt+L");
    });
});

describe("indentation", () => {
    test.each([
        ["    foo", 0, true],
        ["    foo", 4, true],
        ["    foo", 5, false],
        ["\t\tfoo", 1, true],
        ["foo", 0, true],
        ["", 0, true],
        ["    ", 4, true],
        ["foo  ", 5, false],
    ])("%j with the cursor at %i: %s", (line, character, expected) => {
        expect(isInIndentation(line, character)).toBe(expected);
    });
});
