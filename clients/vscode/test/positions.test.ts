import { expect, test } from "vitest";
import { after, offsetIn } from "../src/positions";
import { at } from "./suggestions";

test.each([
    ["", at(2, 5)],
    ["abc", at(2, 8)],
    ["a\nbc", at(3, 2)],
    ["a\r\nbc\n", at(4, 0)],
    ["😀", at(2, 7)],
])("the position after %j", (text, expected) => {
    expect(after(at(2, 5), text)).toEqual(expected);
});

test("an offset is found where the text is, and nowhere else", () => {
    const text = "ab\ncd";
    const offset = (line: number, character: number) => offsetIn(text, at(2, 5), at(line, character));
    expect([offset(2, 5), offset(2, 7), offset(3, 0), offset(3, 2)]).toEqual([0, 2, 3, 5]);
    expect([offset(1, 5), offset(2, 4), offset(2, 8), offset(3, 3), offset(4, 0)]).toEqual(
        Array(5).fill(undefined),
    );
});
