/** When Tab is ours. VS Code evaluates the `when` clause in package.json; a test holds it equal to the rule here. */

/** Each fact under the name of its context key. */
export interface TabFacts {
    readonly editorTextFocus: boolean;
    readonly "likewise.shown": boolean;
    readonly "likewise.inIndentation": boolean;
    readonly editorReadonly: boolean;
    readonly editorHasSelection: boolean;
    readonly editorHasMultipleSelections: boolean;
    readonly suggestWidgetVisible: boolean;
    readonly inlineSuggestionVisible: boolean;
    readonly inlineEditIsVisible: boolean;
    readonly inSnippetMode: boolean;
    readonly editorTabMovesFocus: boolean;
}

export function isTabOurs(facts: TabFacts): boolean {
    const { editorTextFocus, "likewise.shown": shown, ...objections } = facts;
    return editorTextFocus && shown && !Object.values(objections).some(Boolean);
}

const FREE: TabFacts = {
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

/** The key to write beside a suggestion. `known` are the facts that an extension can find out; Alt+L works always. */
export function acceptKey(known: Partial<TabFacts>): "Tab" | "Alt+L" {
    return isTabOurs({ ...FREE, ...known }) ? "Tab" : "Alt+L";
}

/**
 * True if nothing but white space stands before the cursor: there Tab indents, whatever we show. Asked again when the
 * command runs, since context keys arrive a moment late.
 */
export function isInIndentation(lineText: string, character: number): boolean {
    return lineText.slice(0, character).trim() === "";
}
