// Plays one session as a person does: makes a site by hand, looks at what is offered, takes with Tab what is right.
import { sleep, until } from "../workbench.mjs";
import { changeOf, placeOf } from "./texts.mjs";

/** After a site the person looks up for so long; a change that is still being made is offered after 0.85 s. */
const LOOK_MILLISECONDS = 1600;
/** After Tab the next offer comes at once, or not at all. */
const NEXT_MILLISECONDS = 1200;
const TYPING_MILLISECONDS = 40;
const TABS = 2; // a jump and an acceptance

export class Player {
    constructor(workbench, texts, referee, { session, number, hands, name }) {
        Object.assign(this, { workbench, texts, referee, session, number, hands, name });
        this.judged = 0; // offers that were looked at
        this.wrong = new Map();
        this.byHand = new Set();
        this.firstRight = undefined;
        this.lost = 0; // right offers that Tab did not take
    }

    async play() {
        await this.workbench.open(this.name, this.session.before);
        await until("the file is told", () => this.file() !== undefined);
        await until("Likewise", async () => !/starting|trouble/.test(await this.workbench.status()), 60_000);
        for (let site = 0; site < this.session.sites && (await this.made()) < this.session.limit; site++) {
            const left = (await this.judge()).left.find(({ number }) => number === site);
            if (left === undefined) continue;
            await this.makeByHand(left);
            while ((await this.made()) < this.session.limit && (await this.takeNext())) {
                // one Tab after another
            }
        }
        await this.judgeOffers();
        const sites = await this.made();
        return {
            kind: this.session.name,
            hands: this.hands,
            sites,
            byTab: sites - this.byHand.size,
            firstRight: this.firstRight ?? null,
            wrong: [...this.wrong.values()],
            lost: this.lost,
        };
    }

    file() {
        return this.texts.of(this.name);
    }

    judge(offers = []) {
        return this.referee.judge(this.number, this.file().text, offers);
    }

    async made() {
        return this.session.sites - (await this.judge()).left.length;
    }

    async makeByHand({ number, change, hunks }) {
        this.byHand.add(number);
        for (const [start, end, text] of this.hands === "least" ? [...hunks].reverse() : [change]) {
            await this.replace(start, end, text);
        }
        await this.quiet(LOOK_MILLISECONDS);
        await this.judgeOffers();
    }

    /** Selects and types; what VS Code adds by itself, and a person would not leave so, is typed again. */
    async replace(start, end, text) {
        const { workbench } = this;
        const before = this.file().text;
        const wanted = before.slice(0, start) + text + before.slice(end);
        const place = placeOf(before, start);
        await workbench.stepTo(place.line, place.column);
        for (let left = end - start; left > 0; left--) await workbench.press("Shift+ArrowRight");
        const surrounds = /^["'([{`]/.test(text); // VS Code would put it around the selection
        if (end > start && (text === "" || surrounds)) await workbench.press("Delete");
        await workbench.type(text.split("\n")[0], TYPING_MILLISECONDS);
        for (const line of text.split("\n").slice(1)) {
            await workbench.press("Enter");
            await workbench.type(line.trimStart(), TYPING_MILLISECONDS);
        }
        await workbench.press("ArrowRight").then(() => workbench.press("ArrowLeft")); // closes lists, as a look away does
        await until("the text is told", () => this.file().text !== before, 5000);
        await sleep(150);
        if (this.file().text !== wanted) await this.correct(wanted);
    }

    async correct(wanted) {
        const now = this.file().text;
        let first = 0;
        while (now[first] === wanted[first]) first++;
        let same = 0;
        const most = Math.min(now.length, wanted.length) - first;
        while (same < most && now[now.length - 1 - same] === wanted[wanted.length - 1 - same]) same++;
        const place = placeOf(now, first);
        await this.workbench.stepTo(place.line, place.column);
        for (let left = now.length - same - first; left > 0; left--) await this.workbench.press("Delete");
        const missing = wanted.slice(first, wanted.length - same);
        await this.workbench.page.evaluate((text) => navigator.clipboard.writeText(text), missing);
        if (missing !== "") await this.workbench.press("Control+v");
        await until("corrected", () => this.file().text === wanted, 5000);
    }

    /** Waits until nothing new is told for so long. */
    async quiet(milliseconds) {
        let seen = "";
        let since = Date.now();
        while (Date.now() - since < milliseconds) {
            const { version, offers } = this.file();
            if (`${version} ${offers.length}` !== seen) {
                seen = `${version} ${offers.length}`;
                since = Date.now();
            }
            await sleep(50);
        }
    }

    /** Judges every offer that was made since the last time, also those between keys. */
    async judgeOffers() {
        const { offers } = this.file();
        const fresh = offers.slice(this.judged).filter(({ suggestion }) => suggestion !== null);
        this.judged = offers.length;
        for (const { text, suggestion } of fresh) {
            const change = changeOf(text, suggestion);
            const [verdict] = (await this.referee.judge(this.number, text, [change])).verdicts;
            if (verdict === "wrong") {
                const line = linesOf(text, change);
                this.wrong.set(`${placeOf(text, change[0]).line} ${line}`, line);
            }
        }
    }

    /** Takes what is offered now, if it is right. Returns whether it did. */
    async takeNext() {
        const { offers, version, text } = this.file();
        const newest = offers.at(-1);
        if (newest?.version !== version || newest.suggestion === null) return false;
        const [start, end, now] = changeOf(text, newest.suggestion);
        const [verdict] = (await this.judge([[start, end, now]])).verdicts;
        if (verdict !== "right") return false;
        this.firstRight ??= this.byHand.size;
        const wanted = text.slice(0, start) + now + text.slice(end);
        for (let tabs = 0; tabs < TABS && this.file().text === text; tabs++) {
            await this.workbench.press("Tab");
            await until("the Tab", () => this.file().text !== text, 700).catch(() => {});
        }
        if (this.file().text !== wanted) {
            this.lost++;
            if (this.file().text !== text) await this.workbench.press("Control+z");
            return false;
        }
        await this.quiet(NEXT_MILLISECONDS);
        await this.judgeOffers();
        return true;
    }
}

function linesOf(text, [start, end, now]) {
    const first = text.lastIndexOf("\n", start - 1) + 1;
    const last = text.indexOf("\n", end);
    const behind = last < 0 ? text.length : last;
    return `${text.slice(first, behind).trim()} => ${(text.slice(first, start) + now + text.slice(end, behind)).trim()}`;
}
