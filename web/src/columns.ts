// One column of the heat map: a code for each port.
import { decoder, inflate, numbers } from "./blocks";
import type { Heat } from "./data";
import { number } from "./text";

const NOT_COLLECTED = 0, NONE = 1, FIRST = 2, EXPONENTS = 30; // as in report/page/encode.py

export class Values {
  constructor(readonly spec: Heat, readonly codes: Uint32Array, readonly words: (string | number)[]) {}
  isRead(i: number) { return this.codes[i] >= FIRST; }
  isNone(i: number) { return this.codes[i] === NONE; }
  isUnknown(i: number) { return this.codes[i] === NOT_COLLECTED; }
  at(i: number): string | number | null {
    const code = this.codes[i];
    if (code < FIRST) return null;
    if (this.spec.codes === "words") return this.words[code - FIRST];
    if (code === FIRST) return 0;
    const k = code - FIRST - 1;
    return (k % 900 + 100) * 10 ** (Math.floor(k / 900) - EXPONENTS - 2);
  }
  text(i: number): string {
    if (this.isUnknown(i)) return "not collected";
    if (this.isNone(i)) return "none";
    const value = this.at(i)!;
    const about = this.spec.codes === "rounded" && value !== 0 ? "≈ " : "";
    return about + (typeof value === "number" ? number(value) : value) + (this.spec.unit ? ` ${this.spec.unit}` : "");
  }
}

export async function column(spec: Heat): Promise<Values> {
  const [codes, words] = await Promise.all([
    numbers(`heat.${spec.id}`, spec.width),
    spec.words ?? (spec.codes === "words" ? inflate(`words.${spec.id}`).then(b => JSON.parse(decoder.decode(b)) as (string | number)[]) : []),
  ]);
  return new Values(spec, codes, words);
}
