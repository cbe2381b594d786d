// What Python wrote into the file. Nothing is judged here: no rule, walk or ceiling is computed again.
import { decoder, inflate, numbers } from "./blocks";

export type Severity = "blocker" | "high" | "medium" | "low" | "info";
export const SEVERITIES: Severity[] = ["blocker", "high", "medium", "low", "info"];

// How a square is painted, as report/page/places.sql has it.
export const OK = 0, INFO = 1, BLOCKER = 5, NOT_READ = 6, AWAY = 7, PARTLY = 8;
export const LEVELS = [
  "no finding", "info", "low", "medium", "high", "blocker", "not read", "out of service",
  "no finding, not all decided",
];
export const hasFinding = (level: number) => level > INFO && level <= BLOCKER;

export interface Step { without: number; gbps: number; hosts: number; slowest: string; limited_by: string; targets: string }
export interface Pace { basis: string; hosts: number; unknown: string; steps: Step[] }
export interface Head {
  hosts: number; reached: number; switches: number; talked: number; away: number; not_asked: number;
  ports: number; links: number; rules: number; decided: number; inconclusive: number; open: number; stopped: number; expired: number; not_applicable: number;
  severities: Partial<Record<Severity, number>>; pace: Pace;
}
export interface Group { severity: Severity; says: string; observed: string | null; expected: string | null; subjects: number; hosts: string; examples: { subject: string; where: string; aside: string; fix: string }[] }
export interface Block {
  rule: string; severity: Severity; subjects: number; hosts: number; cost_gbps: number | null; priced: number; kind: string;
  groups: Group[]; under: { rule: string; severity: Severity; findings: number }[];
}
export interface Gap { why: string; rules: string[]; checks: number; machines: number; hosts: string; do: string; accept: string[] }
export interface Rule {
  id: string; title: string; severity: Severity; topic: string; action: string; setting: string; do: string; disturbs: string;
  ok: number; fail: number; unknown: number; other: number; trouble: string;
}
export interface RuleText { why: string; wrong: string; sources: string[]; sql: string }
export interface Command { command: string; fix: boolean; missing: string[] }
export interface Finding {
  rule: string; severity: Severity; target: string; subject: string; observed: string | null; expected: string | null;
  detail: string | null; cost_gbps: number | null; device: string | null; netdev: string | null; pci: string | null;
  switch_port: string | null; rail: number | null; link_partner: string | null; state: string; cause: string | null;
  cause_subject: string | null; waiver: { reason: string; owner: string; expires: string | null } | null;
  commands: Command[]; ports: number[];
}
export interface Hop {
  pci: string; gts: number | null; width: number | null; gts_max: number | null; width_max: number | null;
  gbps: number | null; redirects: boolean | null;
}
export interface Endpoint {
  pci: string; kind: "nic" | "gpu"; name: string | null; numa: number | null; narrowest: string | null; gpu: string | null; hops: Hop[];
}
export interface Heat {
  id: string; title: string; unit: string; group: string; kind: "number" | "text"; codes: "words" | "rounded"; width: number;
  words: (string | number)[] | null; read: number; none: number;
}
export interface Side { does: string[]; broken: string[]; unknown: string[] }
export interface End extends Side { ports: string; count: number }
export interface Stop { switches: string; count: number; tier: number | null; in: End[]; out: End[]; broken: string[]; unknown: string[] }
export interface Packet {
  packet: string; from: string; to: string; dscp: number | null; dscp_from: string | null; class_not_judged: string | null;
  sender: Side; receiver: Side; hops: Stop[][]; lost: string | null; verdict: string;
  remarks: { hop: number; at: string; broken: boolean; rule: string | null; what: string }[];
}
export interface HopClass {
  tier: number | null; facing: string | null; system: string | null; ports: number; example: string; switches: string;
  does: string[]; differs: string[]; with_findings: number; with_unknown: number; rules: string[];
}
export interface Rails {
  hosts: number; compute_ports: number; not_read: number; without_neighbor: number; infiniband: number; without_netdev: number;
  without_rail: number; undecided: number; hosts_not_read: number; rails: { rail: number; compute_ports: number }[];
  rows: { leaves: string; count: number; rail: number | null; plane: number | null; ports: { rail: number; plane: number; count: number; odd: boolean }[] }[];
  misplaced: { rule: string; port: string; leaf: string; leaf_port: string; rail: number; plane: number; said: string }[];
}
export interface Evidence {
  subject: string; verdict: string; observed: string | null; expected: string | null;
  inputs: { table: string; held: string; rows: { values: Record<string, string | number | null>; deciding: string[]; none: string[] }[]; rest: number | null }[];
  lines: { command: string; lines: string[] }[];
  evidence: { target: string; probe: string; instance: string; status: string; tables: string[]; command: string }[];
}
export interface Changes {
  before: string; now: string; moved: { hosts: string; before: string; now: string }[]; rows: [string, string][];
  missing: { what: string; side: string; hosts: string }[];
}
type Texts<T> = Record<string, T>;

interface Core {
  format: string; railwright: string; snapshot: string; title: string; demo: boolean; redacted?: boolean; started: string; profile: string; exit_status: number;
  head: Head; blocks: Block[]; inconclusive: Gap[];
  excluded: { reason: string; status: string; hosts: string; machines: number; findings: number; inconclusive: number }[];
  waived: { rule: string; until: string; owner: string; reason: string; state: string; count: number; hosts: string }[];
  expired: { rule: string; subjects: string[]; until: string; owner: string; reason: string }[];
  rules: Rule[]; findings: Record<string, unknown[]>;
  hosts: {
    name: string[]; status: string[]; away: string[]; write: (number | null)[]; wire: (number | null)[]; pace: (number | null)[];
    level: number[]; failed: number[]; unknown: number[]; trees: Endpoint[][]; tree: number[];
    infos: (string | null)[][]; info: number[];
  };
  switches: {
    name: string[]; status: string[]; tier: (number | null)[]; rail: (number | null)[]; plane: (number | null)[]; pod: (string | null)[];
    down: (number | null)[]; up: (number | null)[]; down_mbps: (number | null)[]; up_mbps: (number | null)[];
    system: (string | null)[]; model: (string | null)[]; level: number[]; failed: number[]; unknown: number[];
    links: [number, number, number, number, boolean][];
  };
  ports: { count: number; name: string[]; pci: string[]; netdev: string[]; far: string[] };
  heat: Heat[]; hops: HopClass[]; rails: Rails; infiniband: number; paths: Packet[][]; changes: Changes | null;
}

export class Report {
  core!: Core;
  findings: Finding[] = [];
  byTarget = new Map<string, Finding[]>();
  rules = new Map<string, Rule>();
  hostIndex = new Map<string, number>();
  switchIndex = new Map<string, number>();
  // Of every port: its host, its leaf (1 + number; 0 = none is known), its rail (the same), how it is painted.
  host!: Uint32Array; peer!: Uint32Array; rail!: Uint32Array; level!: Uint8Array;
  first!: Uint32Array; // of every host: its first port; one more for the end
  private name!: Uint32Array; private far!: Uint32Array; private pci!: Uint32Array; private netdev!: Uint32Array;

  async load() {
    const [core, host, peer, rail, level, name, far, pci, netdev] = await Promise.all([
      inflate("core"), numbers("port.host", 4), numbers("port.peer", 4), numbers("port.rail", 2), inflate("port.level"),
      numbers("port.name", 4), numbers("port.far", 4), numbers("port.pci", 4), numbers("port.netdev", 4),
    ]);
    this.core = JSON.parse(decoder.decode(core)) as Core;
    Object.assign(this, { host, peer, rail, level, name, far, pci, netdev });
    this.core.hosts.name.forEach((one, i) => this.hostIndex.set(one, i));
    this.core.switches.name.forEach((one, i) => this.switchIndex.set(one, i));
    this.core.rules.forEach(one => this.rules.set(one.id, one));
    this.first = new Uint32Array(this.hosts + 1);
    for (let i = 0; i < host.length; i++) this.first[host[i] + 1]++;
    for (let h = 0; h < this.hosts; h++) this.first[h + 1] += this.first[h];
    this.readFindings();
  }
  private readFindings() {
    const columns = this.core.findings, names = Object.keys(columns);
    for (let i = 0; i < columns.rule.length; i++) {
      const one = Object.fromEntries(names.map(n => [n, columns[n][i]])) as unknown as Finding;
      this.findings.push(one);
      const here = this.byTarget.get(one.target);
      if (here) here.push(one); else this.byTarget.set(one.target, [one]);
    }
  }
  get hosts() { return this.core.hosts.name.length; }
  get ports() { return this.core.ports.count; }
  portName(i: number) { return word(this.core.ports.name, this.name[i]) ?? "port"; }
  portPci(i: number) { return word(this.core.ports.pci, this.pci[i]); }
  portNetdev(i: number) { return word(this.core.ports.netdev, this.netdev[i]); }
  farPort(i: number) { return word(this.core.ports.far, this.far[i]); }
  hostName(i: number) { return this.core.hosts.name[this.host[i]]; }
  leaf(i: number) { return this.peer[i] ? this.core.switches.name[this.peer[i] - 1] : null; }
  portsOf(host: number) { return range(this.first[host], this.first[host + 1]); }
  // Of one port: finding by the place that its rule gave it.
  findingsAt(port: number) { return (this.byTarget.get(this.hostName(port)) ?? []).filter(f => f.ports.includes(port)); }
  async texts() { return JSON.parse(decoder.decode(await inflate("texts"))) as Texts<RuleText>; }
  async explained() { return JSON.parse(decoder.decode(await inflate("explained"))) as Texts<Evidence>; }
}
const word = (words: string[], code: number) => (code ? words[code - 1] : null);
export const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
export const report = new Report();
