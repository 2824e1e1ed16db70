/** A list of music tracks: reads it, filters it, sorts it and keeps what was played. */

import { EventEmitter } from "node:events";
import { readFile, writeFile } from "node:fs/promises";

export interface Track {
  id: string;
  title: string;
  artist: string;
  seconds: number;
  tags: string[];
}

export type Order = "title" | "artist" | "length";

export class PlayedTrack {
  private track: Track;
  private startedAt: Date;
  private wasSkipped: boolean;

  constructor(track: Track, startedAt: Date, wasSkipped: boolean) {
    this.track = track;
    this.startedAt = startedAt;
    this.wasSkipped = wasSkipped;
  }

  get seconds(): number {
    return this.wasSkipped ? 0 : this.track.seconds;
  }

  describe(): string {
    let time = this.startedAt.toISOString().slice(11, 16);
    let suffix = this.wasSkipped ? " (skipped)" : "";
    return `${time} ${this.track.artist}: ${this.track.title}${suffix}`;
  }
}

export class TrackList extends EventEmitter {
  private tracks: Map<string, Track>;
  private path: string;
  private played: PlayedTrack[];
  private order: Order = "title";

  constructor(path: string) {
    super();
    this.path = path;
    this.tracks = new Map();
    this.played = [];
  }

  async load(): Promise<number> {
    let text = await readFile(this.path, "utf8");
    let rows = JSON.parse(text) as Track[];
    for (let row of rows) {
      this.add(row);
    }
    this.emit("loaded", this.tracks.size);
    return this.tracks.size;
  }

  async save(): Promise<void> {
    let rows = this.sorted();
    let text = JSON.stringify(rows, null, 2);
    await writeFile(this.path, `${text}\n`, "utf8");
    this.emit("saved", rows.length);
  }

  add(track: Track): void {
    let known = this.tracks.get(track.id);
    if (known !== undefined && known.title !== track.title) {
      throw new Error(`two tracks have the id ${track.id}`);
    }
    this.tracks.set(track.id, track);
  }

  sortBy(order: Order): void {
    this.order = order;
  }

  sorted(): Track[] {
    let compare = comparators[this.order];
    return [...this.tracks.values()].sort(compare);
  }

  find(words: string): Track[] {
    let wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    return this.sorted().filter((track) => {
      let content = [track.title, track.artist, ...track.tags].join(" ").toLowerCase();
      return wanted.every((word) => content.includes(word));
    });
  }

  totalSeconds(): number {
    let total = 0;
    for (const track of this.tracks.values()) {
      total += track.seconds;
    }
    return total;
  }

  play(id: string, startedAt: Date, wasSkipped = false): PlayedTrack {
    let track = this.tracks.get(id);
    if (track === undefined) {
      throw new Error(`no track has the id ${id}`);
    }
    let entry = new PlayedTrack(track, startedAt, wasSkipped);
    this.played.push(entry);
    this.emit("played", entry);
    return entry;
  }

  report(): string {
    let lines = this.played.map((entry) => entry.describe());
    let minutes = Math.round(this.played.reduce((sum, entry) => sum + entry.seconds, 0) / 60);
    return [...lines, `${minutes} minutes`].join("\n");
  }
}

const comparators: Record<Order, (one: Track, other: Track) => number> = {
  title: (one, other) => one.title.localeCompare(other.title),
  artist: (one, other) => one.artist.localeCompare(other.artist) || one.title.localeCompare(other.title),
  length: (one, other) => one.seconds - other.seconds,
};

export class Shuffle {
  private list: TrackList;
  private random: () => number;
  private recent: string[];
  private limit: number;

  constructor(list: TrackList, random: () => number = Math.random, limit = 20) {
    this.list = list;
    this.random = random;
    this.recent = [];
    this.limit = limit;
  }

  next(): Track | undefined {
    let tracks = this.list.sorted();
    let fresh = tracks.filter((track) => !this.recent.includes(track.id));
    let choices = fresh.length > 0 ? fresh : tracks;
    if (choices.length === 0) {
      return undefined;
    }
    let chosen = choices[Math.floor(this.random() * choices.length)];
    this.recent.push(chosen.id);
    if (this.recent.length > this.limit) {
      this.recent.shift();
    }
    return chosen;
  }

  upcoming(count: number): Track[] {
    let result: Track[] = [];
    let tries = 0;
    while (result.length < count && tries < 10 * count) {
      let track = this.next();
      tries += 1;
      if (track !== undefined) {
        result.push(track);
      }
    }
    return result;
  }
}
