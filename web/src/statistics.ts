// What is usual in a column, and how far a value is from that. Only for colors and order: no verdict comes from here.
import type { Values } from "./columns";

export interface Statistics {
  isFew: boolean; isLog: boolean; low: number; high: number; median: number; bins: number[];
  groups: { code: number; ports: number; example: number }[];
  odd(port: number): number; color(port: number, dark: boolean): [number, number, number]; top(most: number): number[];
}
const SAMPLE = 20_000, FEW = 8, FAR = 4, WORTH_A_LINE = 2.2, BINS = 40;
// One hue, from light to dark: to be read with any eyes, and in grey. Rare words are strong.
const ramp = (t: number, dark: boolean) => { const a = dark ? [38, 56, 70] : [232, 240, 245], b = dark ? [120, 200, 255] : [8, 64, 120]; return a.map((x, i) => Math.round(x + (b[i] - x) * t)) as [number, number, number]; };
const RARE: [number, number, number][] = [[196, 72, 10], [109, 15, 60], [232, 164, 0], [11, 92, 173], [90, 90, 90]];

export function statistics(v: Values): Statistics {
  const n = v.codes.length, seenAt = new Map<number, { code: number; ports: number; example: number }>();
  let read = 0;
  for (let i = 0; i < n; i++) if (v.isRead(i)) {
    read++;
    const one = seenAt.get(v.codes[i]);
    if (one) one.ports++; else seenAt.set(v.codes[i], { code: v.codes[i], ports: 1, example: i });
  }
  const groups = [...seenAt.values()].sort((a, b) => b.ports - a.ports), isFew = v.spec.kind === "text" || groups.length <= FEW;
  const top = (odd: (i: number) => number, least: number) => (most: number) => {
    const best: [number, number][] = [];
    for (let i = 0; i < n; i++) {
      const o = odd(i);
      if (o <= least || (best.length >= most && o <= best[best.length - 1][0])) continue;
      best.push([o, i]); best.sort((a, b) => b[0] - a[0]);
      if (best.length > most) best.pop();
    }
    return best.map(b => b[1]);
  };
  if (isFew) {
    // Two values may both be usual: those of compute and of storage ports.
    const usual = groups.length > 1 && groups[0].ports + groups[1].ports > read * 0.98 && groups[1].ports > read * 0.05 ? 2 : 1;
    const rank = new Map(groups.map((g, i) => [g.code, i])), isText = v.spec.kind === "text";
    // Words by how rare they are, numbers by how far they are from what is usual.
    const far = isText ? groups.map(g => 1 / g.ports) : groups.map(g => Math.min(...groups.slice(0, usual).map(u => Math.abs((v.at(g.example) as number) - (v.at(u.example) as number))))), most = Math.max(...far, 1e-30);
    const odd = (i: number) => { const r = v.isRead(i) ? rank.get(v.codes[i])! : -1; return r < usual ? (r < 0 ? -1 : 0) : 1 + far[r] / most; };
    return { isFew, isLog: false, low: 0, high: 0, median: 0, bins: [], groups, odd, top: top(odd, 0.5), color: (i, dark) => { const r = rank.get(v.codes[i])!; return r < usual ? ramp(0.06 + 0.22 * r, dark) : RARE[(r - usual) % RARE.length]; } };
  }
  let low = Infinity, high = -Infinity, k = 0;
  const sample: number[] = [], step = Math.max(1, Math.floor(read / SAMPLE));
  for (let i = 0; i < n; i++) if (v.isRead(i)) { const x = v.at(i) as number; if (x < low) low = x; if (x > high) high = x; if (k++ % step === 0) sample.push(x); }
  sample.sort((a, b) => a - b);
  const at = (p: number) => sample[Math.min(sample.length - 1, Math.floor(p * sample.length))], median = at(0.5), spread = Math.max(1e-30, at(0.75) - at(0.25));
  const isLog = low >= 0 && high / Math.max(1e-12, at(0.05)) > 1000, scale = (x: number) => (isLog ? Math.log10(Math.max(x, 1e-18)) : x);
  const from = scale(Math.max(low, at(0.005))), to = scale(Math.min(high, at(0.995))), odd = (i: number) => (v.isRead(i) ? Math.abs((v.at(i) as number) - median) / spread : -1);
  const bins = new Array<number>(BINS).fill(0), first = scale(sample[0]), last = scale(sample[sample.length - 1]);
  for (const x of sample) bins[Math.min(BINS - 1, Math.floor((scale(x) - first) / Math.max(1e-12, last - first) * BINS))]++;
  return { isFew, isLog, low, high, median, bins, groups, odd, top: top(odd, WORTH_A_LINE),
    color: (i, dark) => { const x = v.at(i) as number; return Math.abs(x - median) / spread > FAR ? RARE[0] : ramp(Math.max(0, Math.min(1, (scale(x) - from) / Math.max(1e-12, to - from))), dark); } };
}
