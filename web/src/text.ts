// Words and numbers as people read them; what a machine said, as text that can be seen.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

export function seen(text: string | null | undefined, most = 400): string {
  if (text === null || text === undefined) return "not collected";
  const plain = text.replace(/\n/g, " ⏎ ").replace(HIDDEN, c => `\\u{${c.codePointAt(0)!.toString(16)}}`);
  return plain.length > most ? `${plain.slice(0, most)}… (${count(plain.length)} characters)` : plain;
}

export const count = (n: number) => n.toLocaleString("en-US");
export function number(v: number): string {
  if (v !== 0 && Math.abs(v) < 1e-3) return v.toExponential(2);
  const about = Math.abs(v) > Number.MAX_SAFE_INTEGER ? "≈ " : ""; // more than JavaScript can count
  return about + v.toLocaleString("en-US", { maximumFractionDigits: 2 });
}
export const gbps = (v: number | null) => (v === null ? "?" : v.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 }));
export const plural = (n: number, one: string, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
