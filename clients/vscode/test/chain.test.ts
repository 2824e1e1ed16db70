import { expect, test } from "vitest";
import { Chain } from "../src/chain";

test("a chain counts what was accepted in a row, and tells it once", () => {
    const chain = new Chain();
    for (let left = 8; left > 0; left--) chain.accept("a");
    expect(chain.end()).toBe("done, 8 places");
    expect(chain.end()).toBeUndefined();
    chain.accept("a");
    expect(chain.end()).toBe("done, 1 place");
});

test("another document, or anything else that the user does, begins a new one", () => {
    const chain = new Chain();
    chain.accept("a");
    chain.accept("b");
    expect(chain.end()).toBe("done, 1 place");
    chain.accept("a");
    chain.break();
    expect(chain.end()).toBeUndefined();
});
