// The frame: which view stands behind the address, the finder, light and dark.
import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Coverage } from "./coverage";
import { report } from "./data";
import { Diff } from "./diff";
import { Findings } from "./findings";
import { HeatMap } from "./heat";
import { HostPage } from "./host";
import { FabricMap } from "./map";
import { Said, enc } from "./parts";
import { Paths } from "./paths";
import { SwitchPage } from "./switch";
import { plural, seen } from "./text";
import { Verdict } from "./verdict";
import "./style.css";

const go = (hash: string) => { if (location.hash !== hash) history.pushState(null, "", hash); dispatchEvent(new Event("hashchange")); };
const views = (): [string, string][] => [
  ["", "Verdict"], ["map", "Map"], ["heat", "Heat map"], ["findings", "Findings"], ["paths", "Paths"], ["coverage", "Coverage"],
  ...(report.core.changes ? [["diff", "Diff"] as [string, string]] : []),
];

function found(words: string): [string, string, string][] {
  const take = (names: Iterable<string>, kind: string, to: (n: string) => string) => {
    const out: [string, string, string][] = [];
    for (const n of names) { if (n.toLowerCase().includes(words)) out.push([n, to(n), kind]); if (out.length > 6) break; }
    return out;
  };
  return [
    ...take(report.rules.keys(), "rule", n => `#/findings?rule=${enc(n)}&state=all`),
    ...take(report.core.hosts.name, "host", n => `#/host/${enc(n)}`),
    ...take(report.core.switches.name, "switch", n => `#/switch/${enc(n)}`),
  ].slice(0, 14);
}

function Finder() {
  const [words, set] = useState(""), [at, move] = useState(0), input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const slash = (e: KeyboardEvent) => {
      if (e.key === "/" && !(e.target as HTMLElement).closest("input, select, textarea")) { e.preventDefault(); input.current?.focus(); }
    };
    addEventListener("keydown", slash);
    return () => removeEventListener("keydown", slash);
  }, []);
  const list = useMemo(() => (words ? found(words.toLowerCase()) : []), [words]);
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") { move(Math.min(at + 1, list.length - 1)); e.preventDefault(); }
    else if (e.key === "ArrowUp") { move(Math.max(0, at - 1)); e.preventDefault(); }
    else if (e.key === "Enter" && list[at]) { go(list[at][1]); set(""); }
    else if (e.key === "Escape") { set(""); input.current?.blur(); }
  };
  return <div class="finder">
    <input ref={input} type="search" list={undefined} role="combobox" aria-expanded={list.length > 0} aria-controls="found" autocomplete="off"
      aria-activedescendant={list.length ? `found${at}` : undefined} aria-label="Go to a host, a switch or a rule" placeholder="host, switch, rule   /"
      value={words} onInput={e => { set(e.currentTarget.value); move(0); }} onKeyDown={key} />
    <ul id="found" role="listbox" aria-label="Found" hidden={!list.length}>{list.map(([name, to, kind], i) =>
      <li id={`found${i}`} role="option" aria-selected={i === at} onClick={() => { go(to); set(""); }}><Said text={name} most={60} /> <span class="muted small">{kind}</span></li>)}</ul>
  </div>;
}

function App() {
  const [hash, set] = useState(location.hash), main = useRef<HTMLElement>(null);
  useEffect(() => {
    const changed = () => {
      set(location.hash);
      if (!location.hash.includes("?")) { main.current?.focus({ preventScroll: true }); scrollTo(0, 0); }
    };
    addEventListener("hashchange", changed); addEventListener("popstate", changed);
    return () => { removeEventListener("hashchange", changed); removeEventListener("popstate", changed); };
  }, []);
  const [path, search] = hash.replace(/^#\/?/, "").split("?"), [view, arg = ""] = path.split("/"), query = new URLSearchParams(search ?? "");
  let name = arg;
  try { name = decodeURIComponent(arg); } catch { /* not encoded: as it is */ }
  const theme = () => {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    dispatchEvent(new Event("themechange"));
  };
  const core = report.core, current = view === "host" || view === "switch" ? "map" : view;
  return <>
    <a class="skip" href="#main" onClick={e => { e.preventDefault(); main.current?.focus(); }}>Skip to content</a>
    <header class="top"><p class="name">Railwright</p>
      <nav aria-label="Views">{views().map(([id, title]) => <a href={`#/${id}`} aria-current={current === id ? "page" : undefined}>{title}</a>)}</nav>
      <span class="grow" /><Finder />
      <button type="button" onClick={theme} aria-label="Change between light and dark">◐</button>
      <button type="button" onClick={() => print()}>Print</button>
      {core.demo ? <p class="demo">Demo data</p> : null}
    </header>
    <main id="main" ref={main} tabIndex={-1}><View view={view} name={name} query={query} /></main>
    <footer>Snapshot <Said text={core.title} />, {plural(report.hosts, "host")}. Railwright {seen(core.railwright)}. This file loads nothing and sends nothing; {core.redacted ? "machines have other names here, addresses and people are left out" : "it holds names and addresses of your machines"}. With Preact (MIT).</footer>
  </>;
}

function View({ view, name, query }: { view: string; name: string; query: URLSearchParams }) {
  switch (view) {
    case "": return <Verdict />;
    case "map": return <FabricMap go={go} />;
    case "host": return <HostPage key={name} name={name} />;
    case "switch": return <SwitchPage key={name} name={name} />;
    case "heat": return <HeatMap query={query} go={go} />;
    case "findings": return <Findings query={query} go={go} />;
    case "paths": return <Paths query={query} go={go} />;
    case "coverage": return <Coverage />;
    case "diff": return <Diff />;
    default: return <><h1>No such view</h1><p><a href="#/">To the verdict</a></p></>;
  }
}

async function start() {
  const root = document.documentElement;
  if (!root.dataset.theme) root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  await report.load();
  const app = document.getElementById("app")!;
  app.replaceChildren();
  render(<App />, app);
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("interactive")));
}

start().catch(error => {
  const said = document.createElement("p");
  said.className = "demo";
  said.textContent = `Map, hosts and paths cannot be shown in this browser (${error}). Verdict and findings stand below.`;
  document.getElementById("app")!.prepend(said);
});
